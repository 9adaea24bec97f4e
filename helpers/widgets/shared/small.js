// Shared by the widgets that draw in SVG or step through numbers: numbers in words, a plane with
// arrows, and points that can be moved.

/** A given number without needless zeros. */
const short = (x) => String(Number(x.toFixed(2)) + 0).replace("-", "−");

/** One number as it is, several in brackets. */
const inBrackets = (words) => (words.length === 1 ? words[0] : `(${words.join(", ")})`);

const DIGIT = 7.5; // pixels of the widest digit in a tick's label, at most

/** A tick's number with as many decimals as its step needs; huge and tiny ones as powers. */
function tickWords(t, step) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const large = Math.abs(t) >= 1e5 || decimals > 3;
  const words = Math.abs(t) < step / 2 ? "0" : large ? t.toExponential(0) : t.toFixed(decimals);
  return words.replace("e+", "e").replaceAll("-", "−");
}

/** A label as parts of a drawing's text: what follows the underscore in D_q is set lower. */
function lowered(label) {
  let low = false;
  return typeset(label).filter((part) => part !== "").map((part) => {
    const sub = typeof part !== "string";
    const dy = sub ? 4 : low ? -4 : 0;
    low = sub;
    return svg("tspan", {
      dy, class: sub && "tn-small-sub", text: sub ? part.textContent : part,
    });
  });
}

/** Text in a drawing; its halo keeps it readable on lines. */
const label = (x, y, text, attributes = {}) =>
  svg("text", { x, y, text, class: "tn-small-label", ...attributes });

/**
 * A drawing of the plane from low = [x, y] to high, the same scale on both axes, with ticks.
 * `x` and `y` turn numbers into places on the drawing, `toPlane` turns a place into numbers;
 * `inside` holds what must not reach beyond the axes.
 */
function plane(low, high, width, name) {
  const rough = Math.max(high[0] - low[0], high[1] - low[1]) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  const ticks = (from, to) => {
    const first = Math.ceil(from / step);
    const count = Math.floor(to / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, i) => (first + i) * step);
  };
  const words = (t) => tickWords(t, step);
  const widest = Math.max(0, ...ticks(low[1], high[1]).map((t) => words(t).length));
  const margin = { left: Math.max(30, 10 + DIGIT * widest), right: 10, top: 10, bottom: 22 };
  const scale = (width - margin.left - margin.right) / (high[0] - low[0]);
  const [w, h] = [(high[0] - low[0]) * scale, (high[1] - low[1]) * scale];
  const x = (value) => margin.left + (value - low[0]) * scale;
  const y = (value) => margin.top + (high[1] - value) * scale;
  const height = h + margin.top + margin.bottom;

  const axes = svg("g", { class: "tn-small-axes", "aria-hidden": "true" });
  const tick = (t, line, place) =>
    axes.append(
      svg("path", { d: line, class: Math.abs(t) < step / 2 ? "tn-small-zero" : null }),
      svg("text", { text: words(t), ...place }),
    );
  for (const t of ticks(low[0], high[0])) {
    const half = (DIGIT * words(t).length) / 2;
    const place = { x: clamp(x(t), half, width - half), y: height - 7, "text-anchor": "middle" };
    tick(t, `M${x(t)} ${margin.top}v${h}`, place);
  }
  for (const t of ticks(low[1], high[1]))
    tick(t, `M${margin.left} ${y(t)}h${w}`,
      { x: margin.left - 6, y: y(t) + 4, "text-anchor": "end" });
  // Inside an inner drawing nothing shows beyond its edge; it counts from the same corner.
  const inside = svg("svg", {
    x: margin.left, y: margin.top, width: w, height: h,
    viewBox: `${margin.left} ${margin.top} ${w} ${h}`,
  });
  const node = svg("svg", {
    class: "tn-small-plane", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": name,
  }, axes, inside);
  const toPlane = ([px, py]) => [
    low[0] + (px - margin.left) / scale,
    high[1] - (py - margin.top) / scale,
  ];
  return { node, inside, x, y, toPlane, width };
}

/** An arrow between two places of a drawing; too short for a head, it is not drawn. */
function arrow(kind) {
  const shaft = svg("path", { class: "tn-small-shaft" });
  const head = svg("path", { class: "tn-small-head" });
  const node = svg("g", { class: `tn-small-arrow ${kind}`, "aria-hidden": "true" }, shaft, head);
  const set = ([x1, y1], [x2, y2]) => {
    const length = Math.hypot(x2 - x1, y2 - y1);
    node.toggleAttribute("hidden", length < 1);
    if (length < 1) return;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const size = Math.min(10, length);
    const [bx, by] = [x2 - ux * size, y2 - uy * size];
    const [sx, sy] = [-uy * size * 0.4, ux * size * 0.4];
    shaft.setAttribute("d", `M${x1} ${y1}L${bx} ${by}`);
    head.setAttribute("d", `M${x2} ${y2}L${bx + sx} ${by + sy}L${bx - sx} ${by - sy}Z`);
  };
  return { node, set };
}

/** The round thing to take hold of: one tab stop, which says its own place. */
const handle = (name, description, low, high) =>
  svg("g", {
    class: "tn-small-knob", tabindex: "0", role: "slider", "aria-label": name,
    "aria-roledescription": description, "aria-valuemin": low, "aria-valuemax": high,
  }, svg("circle", { class: "tn-small-ring", r: 16 }), svg("circle", { r: 8 }));

/** A drawing under its caption. */
const picture = (caption, drawing) =>
  el("div", {}, el("div", { class: "tn-small-caption", text: caption }), drawing);

/**
 * Let `knob` be dragged anywhere on `surface` (mouse, pen, touch) and moved with the arrow keys.
 * onPlace([x, y]) gets a place on the drawing, onStep(dx, dy) steps to the right and up; Shift
 * makes five steps of one. Escape hands the keys back to the notebook.
 */
function movable(surface, knob, { onPlace, onStep }) {
  const place = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(
      surface.getScreenCTM().inverse(),
    );
    onPlace([x, y]);
  };
  surface.classList.add("tn-small-surface");
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // or the notebook takes the focus for its cell
    surface.setPointerCapture(event.pointerId);
    knob.focus({ preventScroll: true });
    place(event);
  });
  surface.addEventListener("pointermove", (event) => {
    if (surface.hasPointerCapture(event.pointerId)) place(event);
  });
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  knob.addEventListener("keydown", (event) => {
    if (event.key === "Escape") knob.closest(".jp-Cell")?.focus();
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const times = event.shiftKey ? 5 : 1;
    onStep(step[0] * times, step[1] * times);
  });
}

/**
 * Let the arrow keys, Home and End move the focus through the options of a listbox, or what else is
 * one tab stop: each chooses itself when it gets the focus. Escape hands the keys back.
 */
function walk(list) {
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") list.closest(".jp-Cell")?.focus();
    const options = [...list.children];
    const at = options.indexOf(document.activeElement);
    const to = {
      ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
      ArrowRight: at + 1, ArrowDown: at + 1, End: options.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    options[clamp(to, 0, options.length - 1)].focus();
  });
}

/** Make option `at` of a listbox the chosen one, and the one that Tab reaches. */
function select(list, at) {
  [...list.children].forEach((option, i) => {
    option.setAttribute("aria-selected", String(i === at));
    option.setAttribute("tabindex", i === at ? "0" : "-1");
  });
}

/** A button that opens a table of the numbers; fill(columns, rows) sets its cells. */
function numbersTable() {
  const table = el("table", { class: "tn-small-table" });
  // It scrolls on its own where it is wide or long, so the keyboard must reach it.
  const box = el("div", {
    class: "tn-small-numbers", hidden: true, tabindex: 0, role: "group", "aria-label": "numbers",
  }, table);
  const button = el("button", {
    type: "button", text: "Table", "aria-expanded": "false",
    onclick: () => {
      box.hidden = !box.hidden;
      button.setAttribute("aria-expanded", String(!box.hidden));
    },
  });
  const fill = (columns, rows) =>
    table.replaceChildren(
      el("thead", {}, el("tr", {}, ...columns.map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, ...rows.map(([first, ...rest]) =>
        el("tr", {}, el("th", { scope: "row", text: first }),
          ...rest.map((text) => el("td", { text }))))));
  return { nodes: [button, box], fill };
}
