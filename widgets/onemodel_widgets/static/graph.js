// The graph: pan, zoom, selection, search, keyboard, inspector. Layout is Python's business;
// a highlight only toggles classes.

const DRAG = 3;
const ZOOM = { least: 0.05, most: 4 };

function graphPanel(model, host) {
  const state = traits(model);
  const root = makeRoot(host, "graph", "Graph");
  const head = make("div");
  const bar = make("div", "om-bar");
  const body = make("div", "om-body");
  const stage = make("div", "om-stage");
  const picture = make("div", "om-picture");
  const inspector = make("aside", "om-inspector");
  const legend = make("div");
  const status = make("div", "om-status");
  status.setAttribute("role", "status");
  inspector.setAttribute("aria-label", "Selected node");
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  stage.setAttribute(
    "aria-label",
    "Graph picture. Arrows follow edges, Enter opens a folded module, slash searches, Escape clears.",
  );
  stage.append(picture);
  body.append(stage, inspector);
  root.append(head, bar, body, legend, status);

  const search = make("input");
  search.type = "search";
  search.placeholder = "Search nodes  /";
  search.setAttribute("aria-label", "Search nodes by name, operator or value");
  const found = make("span", "om-facts om-found");
  const crumbs = make("nav", "om-crumbs");
  crumbs.setAttribute("aria-label", "Module of the selected node");
  const view = { x: 0, y: 0, scale: 1, width: 1, height: 1, fitted: false };
  const minimap = makeMinimap(stage);
  let boxes = new Map();
  let edges = [];
  let anchor = null;
  let hit = -1;
  let unseen = false;

  const viewport = () => picture.querySelector(".om-viewport");
  const byName = (name) =>
    [...boxes.values()].find((box) => box.name === name && !box.element.classList.contains("om-kind-reference"));

  // Where things are

  function move() {
    const group = viewport();
    if (!group) return;
    group.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    minimap.frame(view, stage);
  }

  function fit(whole) {
    const { clientWidth: width, clientHeight: height } = stage;
    if (!width || !height) return;
    const all = Math.min(width / view.width, height / view.height, 1.25);
    const readable = Math.max(all, Math.min(1, width / view.width), 0.35);
    view.scale = whole ? all : Math.min(readable, 1);
    view.x = (width - view.width * view.scale) / 2;
    view.y = whole ? (height - view.height * view.scale) / 2 : Math.max(0, (height - view.height * view.scale) / 2);
    view.fitted = true;
    move();
  }

  function zoom(factor, x, y) {
    const scale = Math.min(ZOOM.most, Math.max(ZOOM.least, view.scale * factor));
    const atX = x ?? stage.clientWidth / 2;
    const atY = y ?? stage.clientHeight / 2;
    view.x = atX - ((atX - view.x) * scale) / view.scale;
    view.y = atY - ((atY - view.y) * scale) / view.scale;
    view.scale = scale;
    move();
  }

  function show(box) {
    if (!stage.clientWidth) {
      unseen = true; // a hidden tab: shown when it opens
      return;
    }
    const left = box.x * view.scale + view.x;
    const top = box.y * view.scale + view.y;
    const right = left + box.width * view.scale;
    const bottom = top + box.height * view.scale;
    const margin = 24;
    if (left < margin || right > stage.clientWidth - margin) {
      view.x += stage.clientWidth / 2 - (left + right) / 2;
    }
    if (top < margin || bottom > stage.clientHeight - margin) {
      view.y += stage.clientHeight / 2 - (top + bottom) / 2;
    }
    move();
  }

  function screenPoint(key) {
    const rect = findRect(key);
    return rect && { key, x: rect.x * view.scale + view.x, y: rect.y * view.scale + view.y };
  }

  function findRect(key) {
    for (const box of boxes.values()) if (box.name === key || box.opens === key) return box;
    for (const cluster of picture.querySelectorAll(".om-cluster")) {
      if (cluster.dataset.key !== key) continue;
      const rect = cluster.querySelector("rect");
      return { x: number(rect, "x"), y: number(rect, "y") };
    }
    return null;
  }

  // Drawing

  function draw() {
    insertMarkup(picture, state.get("svg"));
    const svg = picture.querySelector("svg");
    boxes = new Map();
    edges = [];
    if (!svg) return;
    view.width = number(svg, "width");
    view.height = number(svg, "height");
    for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
    for (const element of svg.querySelectorAll("g.om-node")) {
      const rect = element.querySelector(".om-face");
      boxes.set(element.dataset.id, {
        element,
        id: element.dataset.id,
        name: element.dataset.name,
        opens: element.dataset.opens,
        x: number(rect, "x"),
        y: number(rect, "y"),
        width: number(rect, "width"),
        height: number(rect, "height"),
      });
    }
    for (const element of svg.querySelectorAll("g.om-edge")) {
      const { value, source, target } = element.dataset;
      edges.push({ element, value, source, target });
    }
    minimap.draw(boxes, view);
    if (anchor && view.fitted) {
      const rect = findRect(anchor.key);
      if (rect) {
        view.x = anchor.x - rect.x * view.scale;
        view.y = anchor.y - rect.y * view.scale;
      }
      anchor = null;
      move();
    } else {
      fit(false);
    }
    mark();
    select(false);
  }

  function selectedBox() {
    const name = state.get("selected");
    return name ? byName(name) || boxes.get(state.get("selected_box")) : undefined;
  }

  function select(reveal) {
    const box = selectedBox();
    for (const other of boxes.values()) {
      other.element.classList.toggle("om-selected", other === box);
      other.element.setAttribute("aria-pressed", String(other === box));
      other.element.tabIndex = other === box ? 0 : -1;
    }
    if (box && reveal) show(box);
    light(null);
    drawCrumbs();
  }

  function mark() {
    const matches = new Set(state.get("matches").map((match) => match.box));
    const highlighted = new Set(state.get("highlighted"));
    const marks = state.get("marks");
    for (const box of boxes.values()) {
      box.element.classList.toggle("om-match", matches.has(box.id));
      box.element.classList.toggle("om-highlight", highlighted.has(box.id));
      for (const name of ["om-worse-1", "om-worse-2", "om-worse-3", "om-introduced"]) {
        box.element.classList.toggle(name, (marks[box.id] || []).includes(name));
      }
    }
    const count = state.get("matches").length;
    found.textContent = state.get("query") ? `${count} found` : "";
  }

  /** Lights every edge of the values that leave the hovered and the selected box. */
  function light(hovered) {
    const values = new Set();
    const chosen = selectedBox();
    for (const edge of edges) {
      if (chosen && (edge.source === chosen.id || edge.target === chosen.id)) values.add(edge.value);
      if (hovered && (hovered.value ? edge.value === hovered.value : edge.source === hovered.id)) {
        values.add(edge.value);
      }
    }
    values.delete("");
    for (const element of picture.querySelectorAll("[data-value]")) {
      element.classList.toggle("om-lit", values.has(element.dataset.value));
    }
  }

  function drawCrumbs() {
    crumbs.replaceChildren();
    const facts = state.get("inspector");
    const steps = facts.path || [];
    for (const [index, step] of steps.entries()) {
      if (index) crumbs.append(make("span", "", "\u203a"));
      crumbs.append(button(step.title, `Select module ${step.title}`, () => choose(step.key)));
    }
  }

  // What a reader does

  function choose(name) {
    if (state.get("selected") !== name) state.set("selected", name);
    else select(true);
  }

  function toggle(key, open) {
    const opened = new Set(state.get("expanded"));
    if (open) opened.add(key);
    else opened.delete(key);
    anchor = screenPoint(key);
    state.set("expanded", [...opened].sort());
  }

  function follow(direction) {
    const box = selectedBox();
    if (!box) {
      const first = [...boxes.values()].sort((a, b) => a.y - b.y || a.x - b.x)[0];
      if (first) choose(first.name);
      return;
    }
    let candidates;
    if (direction === "down") candidates = edges.filter((e) => e.source === box.id).map((e) => e.target);
    else if (direction === "up") candidates = edges.filter((e) => e.target === box.id).map((e) => e.source);
    else {
      const sign = direction === "left" ? -1 : 1;
      const middle = box.y + box.height / 2;
      candidates = [...boxes.values()]
        .filter((b) => sign * (b.x - box.x) > 1 && Math.abs(b.y + b.height / 2 - middle) < 30)
        .sort((a, b) => sign * (a.x - b.x))
        .map((b) => b.id);
      candidates = candidates.slice(0, 1);
    }
    const centre = box.x + box.width / 2;
    const near = candidates
      .map((id) => boxes.get(id))
      .filter(Boolean)
      .sort((a, b) => Math.abs(a.x + a.width / 2 - centre) - Math.abs(b.x + b.width / 2 - centre));
    if (near.length) choose(near[0].name);
  }

  function nextMatch() {
    const matches = state.get("matches");
    if (!matches.length) return;
    hit = (hit + 1) % matches.length;
    choose(matches[hit].name);
  }

  const keys = {
    ArrowDown: () => follow("down"),
    ArrowUp: () => follow("up"),
    ArrowLeft: () => follow("left"),
    ArrowRight: () => follow("right"),
    Enter() {
      const box = selectedBox();
      if (box && box.opens) toggle(box.opens, true);
    },
    Backspace() {
      const path = state.get("inspector").path || [];
      if (path.length) toggle(path[path.length - 1].key, false);
    },
    "/"() {
      search.focus();
      search.select();
    },
    Escape() {
      search.value = "";
      if (state.get("query")) state.set("query", "");
      if (state.get("selected")) state.set("selected", "");
    },
    n: nextMatch,
    "+": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fit(true),
  };

  stage.addEventListener(
    "keydown",
    guarded(status, (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    }),
  );

  let drag = null;
  let moved = false;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, left: view.x, top: view.y };
    moved = false;
  });
  const onMove = (event) => {
    if (!drag) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!moved && Math.hypot(dx, dy) <= DRAG) return;
    moved = true;
    stage.classList.add("om-panning");
    view.x = drag.left + dx;
    view.y = drag.top + dy;
    move();
  };
  const onUp = () => {
    drag = null;
    stage.classList.remove("om-panning");
  };
  window.addEventListener("pointermove", onMove);
  window.addEventListener("pointerup", onUp);

  stage.addEventListener(
    "click",
    guarded(status, (event) => {
      if (moved) return;
      stage.focus({ preventScroll: true });
      const fold = event.target.closest(".om-fold");
      if (fold) return toggle(fold.parentNode.dataset.key, false);
      const node = event.target.closest("g.om-node");
      if (!node) return undefined;
      if (event.target.closest(".om-open")) return toggle(node.dataset.opens, true);
      return choose(node.dataset.name);
    }),
  );
  stage.addEventListener("dblclick", (event) => {
    const node = event.target.closest("g.om-node");
    if (node && node.dataset.opens) toggle(node.dataset.opens, true);
  });
  stage.addEventListener("pointerover", (event) => {
    const edge = event.target.closest("[data-value]");
    const node = event.target.closest("g.om-node");
    if (edge) light({ value: edge.dataset.value });
    else if (node) light({ id: node.dataset.id });
  });
  stage.addEventListener("pointerleave", () => light(null));
  stage.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015));
      zoom(factor, event.clientX - box.left, event.clientY - box.top);
    },
    { passive: false },
  );

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      hit = -1;
      state.set("query", search.value);
    }, 150);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      keys.Escape();
      stage.focus();
    } else if (event.key === "Enter") {
      if (state.get("query") === search.value) nextMatch();
    }
  });

  bar.append(
    search,
    found,
    button("Fit", "Fit the whole graph (0)", () => fit(true)),
    button("\u2212", "Zoom out (-)", () => zoom(0.8)),
    button("+", "Zoom in (+)", () => zoom(1.25)),
    button("Fold", "Fold all modules", () => state.set("expanded", [])),
    button("SVG", "Save the picture as SVG", () => saveSvg(model, picture, view, status)),
    button("PNG", "Save the picture as PNG", () => savePng(model, picture, view, status)),
    crumbs,
  );

  // What Python says

  const headline = () => insertMarkup(head, state.get("head"));
  const tell = () => {
    const waiting = state.get("laying_out");
    status.textContent = waiting ? `${waiting} \u2026 ` : state.get("status");
    stage.setAttribute("aria-busy", String(Boolean(waiting)));
    if (!waiting) return;
    const cancel = button("Cancel", "Keep the picture as it is", () =>
      state.set("cancel_wanted", state.get("cancel_wanted") + 1),
    );
    cancel.className = "om-button";
    status.append(cancel);
  };
  const inspect = () => {
    drawInspector(inspector, state.get("inspector"), choose);
    drawCrumbs();
  };
  state.on("svg", guarded(status, draw));
  state.on("selected selected_box", guarded(status, () => select(true)));
  state.on("matches highlighted marks", guarded(status, mark));
  state.on("matches", () => {
    if (hit < 0 && state.get("query")) nextMatch();
  });
  state.on("query", () => {
    if (document.activeElement !== search) search.value = state.get("query");
    mark();
  });
  state.on("inspector", guarded(status, inspect));
  state.on("status laying_out", tell);
  state.on("head", headline);
  state.on("legend", () => insertMarkup(legend, state.get("legend")));

  headline();
  insertMarkup(legend, state.get("legend"));
  tell();
  inspect();
  draw();
  let width = stage.clientWidth;
  const resized = new ResizeObserver(() => {
    if (!stage.clientWidth) return; // a hidden tab
    // The inspector takes its place from the stage: keep the middle in the middle.
    view.x += view.fitted && width ? (stage.clientWidth - width) / 2 : 0;
    width = stage.clientWidth;
    if (!view.fitted) fit(false);
    else move();
    const box = unseen && selectedBox();
    unseen = false;
    if (box) show(box);
  });
  resized.observe(stage);
  return () => {
    state.off();
    clearTimeout(waiting);
    resized.disconnect();
    window.removeEventListener("pointermove", onMove);
    window.removeEventListener("pointerup", onUp);
    root.remove();
  };
}

function number(element, name) {
  return parseFloat(element.getAttribute(name)) || 0;
}

function makeMinimap(stage) {
  const svg = makeSvg("svg", { class: "om-minimap", "aria-hidden": "true" });
  const frame = makeSvg("rect", { class: "om-window" });
  stage.append(svg);
  return {
    draw(boxes, view) {
      svg.style.display = boxes.size > 40 ? "" : "none";
      svg.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
      const rects = [...boxes.values()].map((box) =>
        makeSvg("rect", { x: box.x, y: box.y, width: box.width, height: box.height }),
      );
      svg.replaceChildren(...rects, frame);
    },
    frame(view, area) {
      frame.setAttribute("x", -view.x / view.scale);
      frame.setAttribute("y", -view.y / view.scale);
      frame.setAttribute("width", area.clientWidth / view.scale);
      frame.setAttribute("height", area.clientHeight / view.scale);
    },
  };
}

function drawInspector(host, facts, choose) {
  host.replaceChildren();
  if (!facts.name) return;
  host.append(make("h4", "", facts.op), make("div", "om-mono om-muted", facts.name));
  const rows = (title, pairs) => {
    const kept = pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined);
    if (!kept.length) return;
    if (title) host.append(make("h5", "", title));
    const table = make("table");
    for (const [name, value] of kept) {
      const row = make("tr");
      const label = make("th", "", name);
      label.scope = "row";
      row.append(label, make("td", "", String(value)));
      table.append(row);
    }
    host.append(table);
  };
  if (facts.place || facts.expression) {
    host.append(make("h5", "", facts.function ? `Source, in ${facts.function}` : "Source"));
    host.append(make("div", "om-mono om-source", facts.place));
    if (facts.expression) host.append(make("pre", "om-code om-expression", ` ${facts.expression} `));
  }
  rows("", [["module", facts.scope], ["operator", facts.operator], ["domain", facts.domain], ["", facts.note]]);
  rows(facts.kind === "node" ? "Attributes" : "Contents", facts.attributes || []);
  for (const [title, list] of [["Inputs", facts.inputs], ["Outputs", facts.outputs]]) {
    if (!list || !list.length) continue;
    host.append(make("h5", "", title));
    for (const value of list) {
      host.append(make("div", "om-mono om-muted", value.name));
      host.append(make("div", "om-mono om-type", `${value.type}${value.preview ? ` = ${value.preview}` : ""}`));
    }
    const once = new Map(list.map((value) => [value.name, value])); // x * x has one operand
    for (const value of once.values()) drawStatistics(host, value, rows);
  }
  for (const [title, list] of [["From", facts.sources], ["To", facts.targets]]) {
    if (!list || !list.length) continue;
    host.append(make("h5", "", title));
    const line = make("div", "om-chips");
    for (const name of list) {
      const jump = button(name, `Select ${name}`, () => choose(name));
      jump.className = "om-button";
      line.append(jump);
    }
    host.append(line);
  }
}

function drawStatistics(host, value, rows) {
  const facts = value.statistics;
  if (!facts || facts.low === null) return;
  const short = (x) => (x === null ? "" : Number(x.toPrecision(4)).toString());
  rows(`Values of ${value.name}${facts.sampled ? " (sampled)" : ""}`, [
    ["range", `${short(facts.low)} to ${short(facts.high)}`],
    ["mean", facts.mean === null ? "" : `${short(facts.mean)} \u00b1 ${short(facts.deviation)}`],
    ["zeros", facts.zeros || ""],
    ["NaN", facts.nans || ""],
    ["infinite", facts.infinities || ""],
  ]);
  const bins = facts.histogram;
  if (bins.length < 2) return;
  const most = Math.max(...bins);
  const svg = makeSvg("svg", {
    class: "om-histogram",
    viewBox: `0 0 ${bins.length * 4} 36`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": `Histogram from ${short(facts.low)} to ${short(facts.high)}`,
  });
  for (const [index, count] of bins.entries()) {
    const height = (34 * count) / most;
    svg.append(makeSvg("rect", { x: index * 4, y: 36 - height, width: 3.4, height }));
  }
  host.append(svg);
}

/** The whole picture as SVG text of its own: no zoom, and the style sheet inside. */
function standaloneSvg(model, picture, view) {
  const copy = picture.querySelector("svg").cloneNode(true);
  for (const [name, value] of [["width", view.width], ["height", view.height], ["viewBox", `0 0 ${view.width} ${view.height}`]]) {
    copy.setAttribute(name, value);
  }
  copy.querySelector(".om-viewport").removeAttribute("transform");
  for (const name of ["om-selected", "om-match", "om-lit"]) {
    for (const element of copy.querySelectorAll(`.${name}`)) element.classList.remove(name);
  }
  // Outside of the notebook its variables are unknown: the colours seen now go along.
  const seen = getComputedStyle(picture);
  const names = new Set(model.get("_css").match(/--om-[a-z-]+(?=:)/g));
  const colours = [...names].map((name) => `${name}:${seen.getPropertyValue(name).trim()}`);
  const style = makeSvg("style", {});
  style.textContent = `${model.get("_css")}\n.om-view.om-svg{${colours.join(";")}}`;
  copy.classList.add("om-view", "om-svg");
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
}

function saveSvg(model, picture, view, status) {
  const text = standaloneSvg(model, picture, view);
  download("graph.svg", new Blob([text], { type: "image/svg+xml" }));
  status.textContent = "Saved graph.svg";
}

function savePng(model, picture, view, status) {
  const image = new Image();
  const scale = Math.min(2, 16000 / Math.max(view.width, view.height));
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = view.width * scale;
    canvas.height = view.height * scale;
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(picture).getPropertyValue("--om-background") || "#ffffff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      download("graph.png", blob);
      status.textContent = "Saved graph.png";
    });
  };
  image.onerror = () => (status.textContent = "The picture is too large for a PNG");
  const text = standaloneSvg(model, picture, view);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
