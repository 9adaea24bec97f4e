// One step at a time. Products are crossed: the right matrix above the result, the left one beside
// it, so that each entry of the result stands where its row and its column meet. Other operations
// read from left to right, as their equation does.

const LARGEST_CELL = 48; // pixels
const SMALLEST_CELL = 24; // what a finger can hit
const FONT = 12; // pixels
const READABLE_FONT = 9;

/** A number, or the −∞ of a mask, which travels as null. */
const entry = (x) => (x === null ? "−∞" : two(x));

/** The same in six letters at most, for a cell. */
const cellWords = (x) => {
  const size = Math.abs(x ?? 0);
  if (size < 99.995) return entry(x);
  const words = size < 9999.5 ? x.toFixed(0) : x.toExponential(0).replace("e+", "e");
  return words.replace("-", "−");
};

/** A factor of a written sum: negative numbers in brackets. */
const factor = (x) => (x < 0 ? `(${two(x)})` : two(x));

const column = (matrix, j) => matrix.rows.map((row) => row[j]);

/** Where the operands of a step stand: `above` the result and, with signs between, `beside` it. */
function layout({ left, right, plus, inputs, reach }) {
  if (inputs) {
    const [first, ...more] = inputs;
    const adds = more.length && reach === "entry";
    return { above: null, beside: [first, ...more.flatMap((x) => ["+", x]), adds ? "=" : "→"] };
  }
  // A softmax has no right matrix: its scores stand above it, column over column.
  if (!right) return { above: left, beside: [] };
  return { above: right, beside: plus ? [plus, "+", left] : [left] };
}

/** Whether the entry (k, l) of a step's matrix goes into the entry (i, j) of its result. */
function feeds({ left, right, plus, result, reach }, matrix, [k, l], [i, j]) {
  if (reach)
    return matrix !== result && (reach === "all" || (l === j && (reach === "column" || k === i)));
  if (!right) return l === j; // the softmax of a column: its scores, and what they compete with
  if (matrix === right) return l === j;
  return (matrix === left || matrix === plus) && k === i;
}

/** How the entry (i, j) of a step's result comes about. */
function written({ left, right, plus, inputs, reach, result }, i, j) {
  const name = `${result.name}[${i}, ${j}]`;
  const value = two(result.rows[i][j]);
  if (inputs) {
    if (inputs[1] && reach === "entry") {
      const [first, second] = inputs.map(({ rows }) => rows[i][j]);
      return `${name} = ${two(first)} + ${factor(second)} = ${value}`;
    }
    const names = inputs.map((input) => input.name).join(" and ");
    return `${name} = ${value}, made from ` + {
      entry: `the entry [${i}, ${j}] of ${names} alone`,
      column: `column ${j} of ${names} alone: one token`,
      all: `every entry of ${names}: all tokens`,
    }[reach];
  }
  if (!right) {
    const powers = column(left, j).map((x) => `exp(${entry(x)})`);
    return `${name} = ${powers[i]} / (${powers.join(" + ")}) = ${value}`;
  }
  const down = column(right, j);
  const terms = left.rows[i].map((x, k) => `${factor(x)}·${factor(down[k])}`);
  if (plus) terms.unshift(two(plus.rows[i][0]));
  return `${name} = ${terms.join(" + ")} = ${value}`;
}

/** Quarter circles that lead each column of the left matrix to its row of the right one. */
function pairing(size) {
  const arcs = Array.from({ length: size }, (_, k) => {
    const radius = size - k - 0.5;
    const start = `M${k + 0.5} ${size + 0.2}V${size}`;
    return svg("path", { d: `${start}A${radius} ${radius} 0 0 1 ${size} ${k + 0.5}h0.2` });
  });
  return svg("svg", {
    class: "tn-product-pairing", viewBox: `0 0 ${size} ${size}`, style: `--inner: ${size}`,
    "aria-hidden": "true",
  }, ...arcs);
}

/** Counts from 0 along the rows or the columns. */
const count = (along, size) =>
  el("div", { class: `tn-product-count tn-product-${along}`, "aria-hidden": "true" },
    ...Array.from({ length: size }, (_, i) => el("span", { text: String(i) })));

export default widget(({ model, root, listen, cleanup }) => {
  const steps = () => model.get("steps");
  let at = 0; // the step shown
  const shown = () => steps()[at];
  const resultCells = () => cells.get(shown().result);
  let cursor = [0, 0]; // row and column of its result
  let cells = new Map(); // of each matrix of the step, by row and column

  const chips = el("div", { class: "tn-product-chips", role: "group", "aria-label": "steps" });
  const equation = el("div", { class: "tn-product-equation" });
  const stage = el("div", { class: "tn-product-stage" });
  const note = el("div", { class: "tn-product-note" });
  const { nodes, say, stop } = statusLine();
  const turn = (text, by) =>
    el("button", { type: "button", text, onclick: () => go(at + by) });
  const pen = document.createElement("canvas").getContext("2d");
  const announced = statusLine(); // of this one the spoken half is used alone
  const previous = turn("‹ Previous", -1);
  const next = turn("Next ›", 1);

  /** One matrix with its name and sizes. */
  const matrix = (data) => {
    const largest = Math.max(...data.rows.flat().map(Math.abs), 1e-9);
    const isResult = data === shown().result;
    const cellsOf = data.rows.map((row, i) =>
      row.map((x, j) => {
        const kind = x === null ? "tn-product-masked" : x < 0 ? "tn-product-negative" : "";
        const reach = isResult && {
          tabindex: "-1", "aria-label": `${data.name}[${i}, ${j}] = ${two(x)}`,
          onfocus: () => point(i, j), onpointerenter: () => point(i, j),
        };
        return el("div", {
          class: `tn-product-cell ${kind}`, role: isResult ? "gridcell" : "cell", text: cellWords(x),
          style: `--strength: ${Math.round((100 * Math.abs(x)) / largest)}%`, ...reach,
        });
      }));
    cells.set(data, cellsOf);
    const [height, width] = [data.rows.length, data.rows[0].length];
    const grid = el("div", {
      class: "tn-product-matrix", role: isResult ? "grid" : "table",
      "aria-label": `${data.name}, ${height} rows, ${width} columns`,
      ...(isResult && { onkeydown: keys }),
    }, ...cellsOf.map((row) => el("div", { class: "tn-product-row", role: "row" }, ...row)));
    const name = el("div", { class: "tn-product-name" },
      el("b", {}, ...typeset(data.name)),
      data.shape && el("span", {}, ...typeset(data.shape)),
      el("span", { text: `${data.shape && "= "}${height} × ${width}` }));
    return [grid, name];
  };
  const part = (data) => el("div", { class: "tn-product-part" }, ...matrix(data));

  const draw = () => {
    const held = stage.contains(document.activeElement);
    at = Math.min(at, steps().length - 1);
    const step = shown();
    const { result, right } = step;
    const [height, width] = [result.rows.length, result.rows[0].length];
    cursor = [Math.min(cursor[0], height - 1), Math.min(cursor[1], width - 1)];
    [...chips.children].forEach((chip, i) => chip.setAttribute("aria-pressed", String(i === at)));
    previous.setAttribute("aria-disabled", String(at === 0));
    next.setAttribute("aria-disabled", String(at === steps().length - 1));
    equation.replaceChildren(...typeset(step.equation));
    note.textContent = step.note;
    cells = new Map();
    const { above, beside } = layout(step);
    const [grid, name] = above ? matrix(above) : [];
    const sign = (text) =>
      el("div", { class: "tn-product-sign", style: `--rows: ${height}`, text });
    stage.replaceChildren(
      right ? pairing(right.rows.length) : el("div"),
      el("div", { class: "tn-product-above" }, name, count("columns", width), grid),
      el("div", { class: "tn-product-beside" }, count("rows", height),
        ...beside.map((x) => (typeof x === "string" ? sign(x) : part(x)))),
      part(result),
    );
    fit();
    point(...cursor);
    if (held) resultCells()[cursor[0]][cursor[1]].focus();
  };

  /** The largest square cells with which the step fits beside the widget's edges, and its numbers. */
  const fit = () => {
    pen.font = `${FONT}px ${getComputedStyle(root).fontFamily}`;
    const across = [shown().result, ...layout(shown()).beside.filter((x) => x.rows)];
    const columns = across.reduce((sum, { rows }) => sum + rows[0].length, 0);
    const room = Math.floor((stage.clientWidth - 80) / columns);
    const cell = clamp(room, SMALLEST_CELL, LARGEST_CELL);
    const widest = Math.max(...[...cells.keys()].flatMap(({ rows }) =>
      rows.flat().map((x) => pen.measureText(cellWords(x)).width)));
    const font = Math.min(FONT, (FONT * (cell - 5)) / widest);
    stage.style.setProperty("--cell", `${cell}px`);
    stage.style.setProperty("--font", `${font}px`);
    stage.classList.toggle("tn-product-tight", font < READABLE_FONT);
  };

  /** Put the cursor on an entry of the result: light up what makes it, and write it out. */
  const point = (i, j) => {
    resultCells()[cursor[0]][cursor[1]].tabIndex = -1;
    cursor = [i, j];
    const chosen = resultCells()[i][j];
    chosen.tabIndex = 0;
    for (const [data, rows] of cells)
      rows.forEach((row, k) => row.forEach((cell, l) => {
        cell.classList.toggle("tn-product-lit", feeds(shown(), data, [k, l], cursor));
        cell.classList.toggle("tn-product-chosen", cell === chosen);
      }));
    say(written(shown(), i, j));
  };

  const go = (step) => {
    if (!steps()[step]) return;
    at = step;
    draw();
    const { name, equation: words } = shown();
    announced.say(`step ${at + 1} of ${steps().length}, ${name}: ${words}`);
  };

  const keys = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const [i, j] = cursor;
    const [bottom, right] = [resultCells().length - 1, resultCells()[0].length - 1];
    const focus = (row, col) => () =>
      resultCells()[clamp(row, 0, bottom)][clamp(col, 0, right)].focus();
    const action = {
      ArrowUp: focus(i - 1, j),
      ArrowDown: focus(i + 1, j),
      ArrowLeft: focus(i, j - 1),
      ArrowRight: focus(i, j + 1),
      Home: focus(i, 0),
      End: focus(i, right),
      "[": () => go(at - 1),
      "]": () => go(at + 1),
      Escape: () => root.closest(".jp-Cell")?.focus(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  const redraw = () => {
    chips.replaceChildren(...steps().map(({ name }, i) =>
      el("button", { type: "button", onclick: () => go(i) }, ...typeset(name))));
    draw();
  };
  listen("change:steps", redraw);
  const watcher = new ResizeObserver(fit);
  watcher.observe(stage);
  cleanup(() => {
    stop();
    announced.stop();
    watcher.disconnect();
  });

  root.append(
    ...(model.get("controls").length ? [controlsBar(model, listen)] : []),
    el("div", { class: "tn-controls" }, previous, chips, next),
    equation, stage,
    el("div", { class: "tn-small-sentence" }, ...nodes), announced.nodes[1],
    note,
    el("div", { class: "tn-small-caption", text:
      "Point at the result or use the arrow keys; [ and ] change the step. "
      + "Rows and columns count from 0, as in NumPy; the chapter counts from 1." }),
  );
  redraw();
});
