// Error card, axes and comparison: Python's markup with selection, hovering and filters added.

function markupPanel(model, host, kind, trait, label, extend) {
  const state = traits(model);
  const root = makeRoot(host, kind, label);
  const before = make("div");
  const content = make("div");
  const status = make("div", "om-status");
  status.setAttribute("role", "status");
  root.append(before, content, status);

  const rows = () => [...content.querySelectorAll("tr[data-name]")];
  // What an element stands for: a node of the other opset's graph is its call in the shown one.
  const named = (element) => (extend && extend.named ? extend.named(element) : element.dataset.name);
  const choose = (name) => {
    if (state.get("selected") !== name) state.set("selected", name);
  };

  function select(reveal) {
    const name = state.get("selected");
    for (const element of content.querySelectorAll("[data-name]")) {
      const chosen = Boolean(name) && named(element) === name;
      element.classList.toggle("om-selected", chosen);
      if (element.localName === "tr") {
        element.setAttribute("aria-selected", String(chosen));
        element.tabIndex = chosen ? 0 : -1;
      }
    }
    const row = rows().find((element) => element.dataset.name === name);
    if (row && reveal) keepInView(row);
    const first = rows()[0];
    if (!row && first) first.tabIndex = 0;
  }

  function draw() {
    insertMarkup(content, state.get(trait));
    select(false);
    if (extend && extend.drawn) extend.drawn(content);
  }

  content.addEventListener(
    "click",
    guarded(status, (event) => {
      const target = event.target.closest("[data-name]");
      if (target) choose(named(target));
    }),
  );
  content.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr[data-name]");
    if (!row) return;
    const shown = rows().filter((element) => !element.hidden);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const next = shown[shown.indexOf(row) + step];
      if (next) {
        next.focus();
        choose(next.dataset.name);
      }
    } else if (event.key === "Enter" || event.key === " ") choose(row.dataset.name);
    else if (event.key === "Escape") choose("");
    else return;
    event.preventDefault();
  });

  state.on(trait, guarded(status, draw));
  state.on("selected", guarded(status, () => select(true)));
  const stop = extend && extend.start ? extend.start({ state, root, before, content, status }) : null;
  draw();
  return () => {
    state.off();
    if (stop) stop();
    root.remove();
  };
}

function keepInView(row) {
  const box = row.closest(".om-table-box");
  if (!box) return;
  const top = row.offsetTop - 30;
  if (top < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - box.clientHeight / 3;
  }
}

function errorPanel(model, host) {
  return markupPanel(model, host, "error", "error_html", "Refused call", {
    drawn(content) {
      // The refused call stands at the end of the picture: show that end.
      const offence = content.querySelector(".om-kind-offence");
      const canvas = content.querySelector(".om-canvas");
      if (offence && canvas) canvas.scrollTop = canvas.scrollHeight;
    },
  });
}

function axesPanel(model, host) {
  return markupPanel(model, host, "axes", "axes_html", "Axes", {
    start({ state, before, content, status }) {
      const light = (atoms) => {
        for (const chip of content.querySelectorAll("[data-atoms]")) {
          const carried = chip.dataset.atoms.split(" ");
          chip.classList.toggle("om-lit", atoms.some((atom) => carried.includes(atom)));
        }
      };
      content.addEventListener("pointerover", (event) => {
        const chip = event.target.closest("[data-atom]");
        light(chip ? [chip.dataset.atom] : []);
      });
      content.addEventListener("pointerleave", () => light([]));
      const sliders = () => drawSliders(before, state);
      const tell = () => (status.textContent = state.get("axes_status"));
      state.on("symbols", sliders);
      state.on("axes_status", tell);
      sliders();
      tell();
      return null;
    },
  });
}

function drawSliders(host, state) {
  const symbols = state.get("symbols");
  const names = Object.keys(symbols);
  host.className = names.length ? "om-sliders" : "";
  const shown = [...host.querySelectorAll("input")].map((input) => input.dataset.symbol);
  if (shown.join("\n") === names.join("\n") && shown.length) {
    for (const input of host.querySelectorAll("input")) {
      input.value = symbols[input.dataset.symbol].size;
      input.nextSibling.textContent = input.value;
    }
    return;
  }
  host.replaceChildren();
  for (const name of names) {
    const { size, least, most } = symbols[name];
    const input = make("input");
    Object.assign(input, { type: "range", min: least, max: most, step: 1, value: size });
    input.dataset.symbol = name;
    input.setAttribute("aria-label", `Size of ${name}`);
    const output = make("output", "om-mono", String(size));
    input.addEventListener("input", () => (output.textContent = input.value));
    input.addEventListener("change", () => {
      state.set("sizes", { ...state.get("sizes"), [name]: Number(input.value) });
    });
    host.append(make("span", "om-mono", name), input, output);
  }
}

function diffPanel(model, host) {
  const only = make("input");
  const filter = (content) => {
    for (const row of content.querySelectorAll("tr[data-state]")) {
      row.hidden = only.checked && row.dataset.state === "agrees";
    }
  };
  return markupPanel(model, host, "diff", "diff_html", "Comparison", {
    drawn: filter,
    start({ state, before, content, status }) {
      const label = make("label", "om-facts");
      only.type = "checkbox";
      only.addEventListener("change", () => filter(content));
      label.append(only, " only values that differ");
      before.className = "om-bar";
      before.append(
        label,
        button("First difference", "Select the node that introduces a difference", () => {
          const first = content.querySelector("tr.om-first");
          if (first) state.set("selected", first.dataset.name);
        }),
        button("Save repro", "Write a folder with model, inputs, values and a script", () =>
          state.set("repro_wanted", state.get("repro_wanted") + 1),
        ),
      );
      const tell = () => (status.textContent = state.get("diff_status"));
      state.on("diff_status", tell);
      tell();
      return null;
    },
  });
}

function opsetPanel(model, host) {
  return markupPanel(model, host, "opset", "opset_html", "Opsets", {
    named(element) {
      const name = element.dataset.name;
      return element.closest(".om-side-other") ? model.get("opset_links")[name] || "" : name;
    },
    start({ state, before }) {
      before.className = "om-bar";
      const label = make("label", "om-facts", "compare with opset ");
      const choice = make("select");
      for (const opset of state.get("opsets")) {
        const option = make("option", "", String(opset));
        option.value = opset;
        choice.append(option);
      }
      const show = () => (choice.value = state.get("opset"));
      choice.addEventListener("change", () => state.set("opset", Number(choice.value)));
      label.append(choice);
      before.append(label);
      state.on("opset", show);
      show();
      return null;
    },
  });
}

/** Tabs over panels that share one model, and so one selection. */
function workbenchPanel(model, host) {
  const panels = [
    ["Graph", graphPanel],
    ["Axes", axesPanel],
    ["Comparison", diffPanel],
    ["Opsets", opsetPanel],
    ["Error", errorPanel],
  ];
  const state = traits(model);
  const root = makeRoot(host, "workbench", "Workbench");
  const bar = make("div", "om-tabs");
  bar.setAttribute("role", "tablist");
  root.append(bar);
  const tabs = [];
  const stops = [];
  for (const [title, panel] of panels) {
    if (!state.get("tabs").includes(title)) continue;
    const area = make("div", "om-panel");
    area.setAttribute("role", "tabpanel");
    area.setAttribute("aria-label", title);
    const tab = button(title, title, () => state.set("tab", title));
    tab.setAttribute("role", "tab");
    tabs.push({ title, tab, area });
    bar.append(tab);
    root.append(area);
    stops.push(panel(model, area));
  }
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const index = tabs.findIndex(({ title }) => title === state.get("tab"));
    const next = tabs[(index + step + tabs.length) % tabs.length];
    state.set("tab", next.title);
    next.tab.focus();
  });
  const show = () => {
    for (const { title, tab, area } of tabs) {
      const chosen = title === state.get("tab");
      area.hidden = !chosen;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
  };
  state.on("tab", show);
  show();
  return () => {
    state.off();
    for (const stop of stops) stop();
    root.remove();
  };
}
