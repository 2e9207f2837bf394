// Shared by all views: markup through an allow-list, traits, selection, cleanup.
// Plain functions; each widget is this file, its panels, and one line that exports render().

const SVG = "http://www.w3.org/2000/svg";
const ELEMENTS = new Set(
  ("section div span p h3 h4 h5 ol ul li pre mark code strong i table caption thead tbody tr th " +
    "td details summary svg g rect path text title").split(" "),
);
const ATTRIBUTES = new Set(
  ("class title role tabindex scope open id x y width height rx d fill stroke transform viewbox " +
    "fill-opacity stroke-opacity stroke-width stroke-dasharray text-anchor font-size font-weight " +
    "font-family").split(" "),
);

function allowed(name, value) {
  const lower = name.toLowerCase();
  if (!ATTRIBUTES.has(lower) && !lower.startsWith("data-") && !lower.startsWith("aria-")) return false;
  return lower.startsWith("data-") || lower.startsWith("aria-") || lower === "title" || !/url\s*\(|:\/\//i.test(value);
}

function clean(element) {
  for (const child of [...element.children]) {
    if (ELEMENTS.has(child.localName.toLowerCase())) clean(child);
    else child.remove();
  }
  for (const { name, value } of [...element.attributes]) {
    if (!allowed(name, value)) element.removeAttribute(name);
  }
}

/** Replaces the content of `host` by markup, of which only listed elements and attributes stay. */
function insertMarkup(host, markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  clean(parsed.body);
  host.replaceChildren(...[...parsed.body.childNodes].map((node) => document.importNode(node, true)));
}

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function makeSvg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function button(label, title, action) {
  const element = make("button", "", label);
  element.type = "button";
  element.title = title;
  element.setAttribute("aria-label", title);
  element.addEventListener("click", action);
  return element;
}

/**
 * A root that keeps its keys to itself: notebooks bind single letters and arrows.
 * Notebook 7 hears a key before any element does, and looks for the attribute no further up than
 * to the focused element, which its own rules already match; so that one has to carry it.
 */
function makeRoot(host, kind, label) {
  const root = make("section", `om-view om-${kind}-view`);
  root.setAttribute("aria-label", label);
  const suppress = "data-lm-suppress-shortcuts";
  root.setAttribute(suppress, "true");
  root.addEventListener("focusin", (event) => event.target.setAttribute(suppress, "true"));
  root.addEventListener("keydown", (event) => event.stopPropagation());
  host.append(root);
  return root;
}

/** Traits with one place to forget every listener. */
function traits(model) {
  const bound = [];
  return {
    get: (name) => model.get(name),
    set(name, value) {
      model.set(name, value);
      model.save_changes();
    },
    on(names, action) {
      for (const name of names.split(" ")) {
        model.on(`change:${name}`, action);
        bound.push([`change:${name}`, action]);
      }
    },
    off() {
      for (const [event, action] of bound) model.off(event, action);
    },
  };
}

/** An error in a handler is shown in the status line instead of vanishing in the console. */
function guarded(status, action) {
  return (...values) => {
    try {
      return action(...values);
    } catch (error) {
      status.textContent = `The view met an error: ${error.message}`;
      return undefined;
    }
  };
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function mount(panel) {
  return ({ model, el }) => panel(model, el);
}
