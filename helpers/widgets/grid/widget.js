// A matrix as colored cells, with the chosen column as bars beside it. What is chosen lives on the
// model, so all views and Python share it; what is hovered belongs to one view.

const STEPS = {
  ArrowUp: { row: -1 }, ArrowDown: { row: 1 }, ArrowLeft: { column: -1 }, ArrowRight: { column: 1 },
  Home: { column: -Infinity }, End: { column: Infinity },
  "[": { page: -1 }, "]": { page: 1 }, PageUp: { page: -1 }, PageDown: { page: 1 },
};
const READ = 12; // rows or columns of which every number is printed
const TALLEST = 640; // pixels the rows may take before they shrink
const SHORT = 32; // pixels up to which column labels lie flat even over narrow cells
const LABEL = 120; // pixels beyond which a label is cut with an ellipsis
const BARS = [104, 56]; // pixels from one end of the bars' scale to the other: usual, if narrow
const RING = 4; // pixels around the cells, for the ring of the chosen one
const MARGIN = 20; // pixels beside that scale, for its words

/** What a cell holds, in words: a number with two decimals, or a whole one; else it is empty. */
const content = ({ numbers, whole }, i, empty = "") =>
  isNaN(numbers[i]) ? empty : whole ? two(numbers[i]).replace(/\.00$/, "") : two(numbers[i]);

/** A page as Python sent it, with typed arrays instead of bytes. */
function unpack(picture) {
  const copy = ({ buffer, byteOffset, byteLength }) =>
    buffer.slice(byteOffset, byteOffset + byteLength);
  const [R, C] = picture.shape;
  const groups = picture.groups.byteLength ? new Uint16Array(copy(picture.groups)) : null;
  const numbers = new Float32Array(copy(picture.numbers));
  return { ...picture, R, C, numbers, groups, anyEmpty: numbers.some(Number.isNaN) };
}

/** The colors of the theme, read from the style sheet, for numbers from −1 to 1. */
function palette(root) {
  const { rgb, mix, css, isLight } = theme(root);
  const ramp = (...stops) => {
    const [zero, middle, end] = stops.map((stop) => rgb(`grid-${stop}`));
    return Array.from({ length: 101 }, (_, i) =>
      i < 50 ? mix(zero, middle, i / 50) : mix(middle, end, (i - 50) / 50));
  };
  const looks = (colors) => colors.map((color) => ({
    rgba: [...color, 255], ink: isLight(color) ? "#000000" : "#ffffff",
  }));
  const plus = looks(ramp("zero", "plus-middle", "plus"));
  const minus = looks(ramp("zero", "minus-middle", "minus"));
  return {
    look: (t) => (t < 0 ? minus : plus)[Math.round(100 * clamp(Math.abs(t), 0, 1))],
    plus: css(rgb("grid-plus-bar")), minus: css(rgb("grid-minus-bar")),
    muted: css(rgb("muted")), line: css(rgb("line")),
    hatch: css(mix(rgb("panel"), rgb("muted"), 0.3)),
  };
}

/**
 * Labels along an edge, each `room` pixels from the next, so of many only every second, fifth …
 * Returns a function that marks one of them, which is shown even if its neighbors must make room.
 */
function labels(box, texts, { cell, room, edge, at }) {
  const label = (i, kind) => el("span", {
    class: kind, dir: "auto", title: texts[i], text: texts[i], style: `${edge}:${at(i)}px`,
  });
  const step = [1, 2, 5, 10, 20, 50].find((n) => n * cell >= room) ?? 100;
  const shown = texts.map((_, i) => i).filter((i) => i % step === 0).map((i) => [i, label(i)]);
  box.append(...shown.map(([, node]) => node));
  let marked = null;
  return (chosen) => {
    marked?.remove();
    marked = label(chosen, "tn-on");
    box.append(marked);
    for (const [i, node] of shown) node.hidden = Math.abs(at(i) - at(chosen)) < room - 2;
  };
}

/** The page as a picture: labels are text, cells and bars are canvases. */
function gridView(ctx, stage, cell) {
  const { page } = ctx;
  const { R, C } = page;
  const font = getComputedStyle(stage).fontFamily;
  const pen = document.createElement("canvas").getContext("2d");
  const widest = (texts, weight = 600) => {
    pen.font = `${weight} 12px ${font}`;
    return Math.max(...texts.map((text) => pen.measureText(text.slice(0, 60)).width));
  };

  // Sizes: cells as large as their contents need, else square, else as small as they must be.
  const readable = Math.max(R, C) <= READ;
  const texts = Array.from(readable ? page.numbers : [], (_, i) => content(page, i));
  const side = Math.max(Math.min(LABEL, widest(page.rows)), widest([`${page.labels[0]} ↓`], 400));
  const left = Math.ceil(side) + 10;
  const label = Math.min(LABEL, widest(page.columns));
  // Slanted labels lean over what stands to the right of the cells.
  const last = Math.min(LABEL, widest(page.columns.slice(-1)));
  const lean = label <= SHORT ? 0 : Math.ceil(0.64 * last);
  const text = readable ? Math.max(28, widest(texts, 400)) : 0;
  const least = text ? text + 6 : clamp(ctx.room() / 2 / C, 4, 28);
  const leadFor = (bars) => (bars ? Math.max(MARGIN, lean) : lean);
  const besideFor = (bars) => leadFor(bars) + (bars && bars + 2 * MARGIN);
  const cellsFor = (bars) => (ctx.room() - left - besideFor(bars) - 2 * RING) / C;
  // Where numbers are printed, they need the room more than the bars do.
  const fitting = [...BARS, ...(text ? [0] : [])].find((bars) => cellsFor(bars) >= least);
  const barred = page.numbers.some((x) => !isNaN(x)) ? (fitting ?? BARS[1]) : 0;
  const lead = leadFor(barred), beside = besideFor(barred), most = cellsFor(barred);
  const printed = text > 0 && most >= least;
  const width = printed ? Math.min(most, text + 16) : clamp(most, 4, 28);
  const height = printed
    ? clamp(TALLEST / R, 14, 32)
    : clamp(TALLEST / R, 4, Math.max(width, Math.min(28, 160 / R)));
  // Edges fall on whole pixels, so that they are sharp; cells may then differ by one.
  const x = (column) => Math.round((column / C) * Math.round(C * width));
  const y = (row) => Math.round((row / R) * Math.round(R * height));
  const gap = Math.min(width, height) >= 10 ? 1 : 0;
  const middle = (edge, i) => (edge(i) + edge(i + 1) - gap) / 2;

  const axis = `${page.labels[1]} →`;
  // Column labels lie flat where they fit, or are short; else they are slanted.
  const flat = label <= Math.max(SHORT, width - 8);
  const top = el("div", {
    class: flat ? "tn-grid-top" : "tn-grid-top tn-grid-slanted",
    style: `height:${(flat ? 22 : Math.ceil(label * 0.77) + 20) + 18}px`,
  }, el("div", { class: "tn-grid-axis", text: axis }));
  const sides = el("div", { class: "tn-grid-side" });
  const pointColumn = labels(top, page.columns, {
    cell: width, room: flat ? label + 6 : 17, edge: "left", at: (c) => middle(x, c),
  });
  const pointRow = labels(sides, page.rows, {
    cell: height, room: 15, edge: "top", at: (r) => clamp(middle(y, r), 8, Math.max(8, y(R) - 8)),
  });

  const heat = el("canvas", { class: "tn-grid-heat" });
  const row = el("div", { class: "tn-grid-row" }), column = el("div", { class: "tn-grid-column" });
  const outline = svg("svg", { class: "tn-grid-group", "aria-hidden": "true" },
    svg("path"), svg("path"));
  const hovered = el("div", { class: "tn-grid-hovered" });
  const map = el("div", { class: gap ? "tn-grid-map" : "tn-grid-map tn-grid-dense" },
    el("div", { class: "tn-grid-corner tn-grid-axis", text: `${page.labels[0]} ↓` }), top, sides,
    el("div", { class: "tn-grid-body" }, heat, row, column, outline, hovered, cell.parentNode));
  const middleTrack = Math.max(x(C), Math.ceil(widest([axis], 400)));
  map.style.cssText = `gap:${RING}px;grid-template-columns:${left}px ${middleTrack}px ${beside}px`;
  stage.append(map);

  // The chosen column as bars, each beside its row.
  const title = el("div", { class: "tn-grid-title", dir: "auto" });
  const bars = el("canvas"), line = el("div", { class: "tn-grid-row" });
  const marks = page.signed ? [-1, 0, 1] : [0, 1];
  const place = (t) => MARGIN + barred * (page.signed ? (1 + t) / 2 : t);
  const ends = marks.map((t) => t && page.ends[Number(t > 0)]);
  const scale = el("div", { class: "tn-grid-ends" });
  const above = el("div", {
    class: "tn-grid-above", style: `${flat ? "padding" : "margin"}-left:${lead}px`,
  }, scale);
  const below = el("div", { class: "tn-grid-beside", style: `padding-left:${lead}px` });
  top.after(above);
  map.append(below);
  if (barred) {
    scale.append(title, ...ends.map((text, i) => el("span", {
      // Too long for its place, it is left to the legend.
      text: String(text).length > 6 ? "" : String(text), style: `left:${place(marks[i])}px`,
    })));
    below.append(bars, line);
  }

  const share = (i) => page.numbers[i] / page.top;
  const paint = () => {
    const { colors } = ctx;
    // A pixel a cell, made larger in one go: many times faster than cell by cell.
    const small = new ImageData(C, R);
    const looks = Array.from(page.numbers, (_, i) => colors.look(isNaN(share(i)) ? 0 : share(i)));
    looks.forEach((look, i) => small.data.set(look.rgba, 4 * i));
    const source = document.createElement("canvas");
    source.width = C;
    source.height = R;
    source.getContext("2d").putImageData(small, 0, 0);
    const g = sized(heat, x(C), y(R));
    g.imageSmoothingEnabled = false;
    g.drawImage(source, 0, 0, x(C), y(R));
    if (page.anyEmpty) {
      g.fillStyle = hatching(colors);
      page.numbers.forEach((number, i) => {
        const [r, c] = [Math.floor(i / C), i % C];
        if (isNaN(number)) g.fillRect(x(c), y(r), x(c + 1) - x(c), y(r + 1) - y(r));
      });
    }
    for (let c = 1; gap && c <= C; c++) g.clearRect(x(c) - gap, 0, gap, y(R));
    for (let r = 1; gap && r <= R; r++) g.clearRect(0, y(r) - gap, x(C), gap);
    if (!printed) return;
    g.font = `12px ${font}`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    looks.forEach((look, i) => {
      const [r, c] = [Math.floor(i / C), i % C];
      g.fillStyle = look.ink;
      g.fillText(texts[i], middle(x, c), middle(y, r) + 1);
    });
  };
  const paintBars = (column) => {
    const { colors } = ctx;
    const g = sized(bars, barred + 2 * MARGIN, y(R));
    const upright = (t, color) => {
      g.fillStyle = color;
      g.fillRect(Math.round(place(t)), 0, 1, y(R));
    };
    for (const t of marks) upright(t, colors.line);
    const thick = Math.min(height - gap, 16);
    for (let r = 0; r < R; r++) {
      const t = share(r * C + column);
      if (isNaN(t)) continue;
      g.fillStyle = t < 0 ? colors.minus : colors.plus;
      const [from, to] = [place(Math.min(t, 0)), place(Math.max(t, 0))];
      g.fillRect(from, middle(y, r) - thick / 2, to - from, thick);
    }
    upright(0, colors.muted);
  };
  const point = (at) => {
    const across = (c) => `left:${x(c)}px;width:${x(c + 1) - x(c) - gap}px;`;
    const down = (r) => `top:${y(r)}px;height:${y(r + 1) - y(r) - gap}px;`;
    const chosen = ctx.chosen();
    cell.style.cssText = across(chosen.column) + down(chosen.row);
    hovered.style.cssText = across(at.column) + down(at.row);
    hovered.hidden = !ctx.hover();
    row.style.cssText = line.style.cssText = down(at.row);
    if (page.groups) line.style.left = `${lead}px`;
    column.style.cssText = across(at.column);
    // Where cells belong together, their outline takes the place of row and column.
    row.hidden = column.hidden = page.groups !== null;
    if (page.groups) {
      const d = border(page, page.groups[at.row * C + at.column], x, y);
      for (const path of outline.children) path.setAttribute("d", d);
    }
    pointColumn(at.column);
    pointRow(at.row);
    title.textContent = title.title = `${page.labels[1]} ${page.columns[at.column]}`;
    if (barred) paintBars(at.column);
  };
  const locate = (event) => {
    const from = heat.getBoundingClientRect();
    const column = Math.floor(((event.clientX - from.left) / from.width) * C);
    const row = Math.floor(((event.clientY - from.top) / from.height) * R);
    return column >= 0 && column < C && row >= 0 && row < R ? { row, column } : null;
  };
  const reveal = ({ row, column }) => {
    // Labels and bars stick to the edges: a cell must be clear of them to be seen.
    const right = left + x(column + 1) + beside + 2 * RING - stage.clientWidth;
    stage.scrollLeft = clamp(stage.scrollLeft, right, x(column));
    const bottom = top.offsetHeight + y(row + 1) + 2 * RING - stage.clientHeight;
    stage.scrollTop = clamp(stage.scrollTop, bottom, y(row));
  };
  return { paint, point, locate, reveal };
}

/** The edges between the cells of a group and all others, as a path. */
function border({ R, C, groups }, group, x, y) {
  const inside = (r, c) =>
    r >= 0 && r < R && c >= 0 && c < C && groups[r * C + c] === group;
  const edges = [];
  for (let r = 0; r <= R; r++) {
    for (let c = 0; c <= C; c++) {
      if (inside(r, c) !== inside(r - 1, c)) edges.push(`M${x(c)} ${y(r)}H${x(c + 1)}`);
      if (inside(r, c) !== inside(r, c - 1)) edges.push(`M${x(c)} ${y(r)}V${y(r + 1)}`);
    }
  }
  return edges.join("");
}

/** The page as a table, for reading, copying, and screen readers. */
function tableView(ctx, stage) {
  const { page } = ctx;
  const th = (scope, text) =>
    el("th", { scope, title: text }, el("span", { dir: "auto", text }));
  const heads = page.columns.map((text) => th("col", text));
  const rows = page.rows.map((text, r) => el("tr", {}, th("row", text),
    ...page.columns.map((_, c) => el("td", { text: content(page, r * page.C + c) }))));
  const [down, across] = page.labels;
  stage.append(el("table", { class: "tn-grid-table" },
    el("caption", { class: "tn-spoken", text: page.name }),
    el("thead", {},
      el("tr", {}, el("th", { scope: "col", text: `${down} ↓ ${across} →` }), ...heads)),
    el("tbody", {}, ...rows)));
  let marked = [];
  const point = (at) => {
    for (const node of marked) node.classList.remove("tn-on");
    marked = [heads[at.column], rows[at.row].children[0], rows[at.row].children[at.column + 1]];
    for (const node of marked) node.classList.add("tn-on");
  };
  return { paint: () => {}, point, locate: () => null, reveal: () => {} };
}

/** The cells that belong together with one, in words. */
function together({ numbers, groups }, i) {
  if (!groups) return "";
  const members = Array.from(numbers).filter((_, j) => groups[j] === groups[i]);
  const there = members.filter((x) => !isNaN(x));
  const count = `${members.length} ${members.length === 1 ? "cell" : "cells"}`;
  if (!there.length) return ` · outlined: ${count}`;
  const average = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const mean = average(there);
  const deviation = Math.sqrt(average(there.map((x) => (x - mean) ** 2)));
  return ` · outlined: ${count}, mean ${two(mean)}, standard deviation ${two(deviation)}`;
}

export default widget((tools) => {
  const { model, root, listen, cleanup } = tools;
  root.classList.add("tn-grid");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Table of numbers");
  const views = { Grid: gridView, Table: tableView };
  let pages = [], picture;

  const status = statusLine();
  const tabs = el("div", { class: "tn-grid-tabs", role: "group", "aria-label": "Page" });
  const legend = el("div", { class: "tn-grid-legend" });
  const note = el("div", { class: "tn-grid-note" });
  const stage = cellStage(tools, {
    prefix: "tn-grid-",
    views: Object.keys(views),
    lay,
    point,
    locate: (event) => picture.locate(event),
    keysAt: (_, onGrid) => (onGrid ? STEPS : null),
    step,
  });

  if (model.get("controls").length) root.append(controlsBar(model, listen));
  root.append(
    el("div", { class: "tn-grid-bar" }, tabs, legend,
      el("div", { class: "tn-grid-switch", role: "group", "aria-label": "View" },
        ...stage.buttons)),
    ...status.nodes, stage.node, el("div", { class: "tn-foot" }, note, stage.hint));
  cleanup(status.stop);

  const ctx = {
    page: null,
    colors: null,
    room: () => root.clientWidth - 30,
    hover: stage.hover,
    // A new, smaller page may arrive before Python has moved what was chosen inside it.
    chosen: () => ({
      row: Math.min(model.get("row"), ctx.page.R - 1),
      column: Math.min(model.get("column"), ctx.page.C - 1),
    }),
  };
  const pageNow = () => Math.min(model.get("page"), pages.length - 1);

  function step(by) {
    const page = clamp(pageNow() + (by.page ?? 0), 0, pages.length - 1);
    const { R, C } = pages[page], { row, column } = ctx.chosen();
    stage.choose({
      page,
      row: clamp(row + (by.row ?? 0), 0, R - 1),
      column: clamp(column + (by.column ?? 0), 0, C - 1),
    });
    picture.reveal(ctx.chosen());
  }

  function point() {
    const { page } = ctx;
    const chosen = ctx.chosen();
    const at = stage.hover() ?? chosen;
    picture.point(at);
    const words = ({ row, column }) => {
      const [r, c] = [page.rows[row], page.columns[column]].map((text) => isolated(brief(text)));
      const number = content(page, row * page.C + column, "empty");
      return `${page.labels[0]} ${r}, ${page.labels[1]} ${c}: ${number}`;
    };
    status.say(words(at) + together(page, at.row * page.C + at.column),
      pages.length > 1 ? page.name : "");
    stage.tell(chosen.row, chosen.column, words(chosen));
  }

  /** Build everything for the present page, view and width. */
  function lay() {
    const page = (ctx.page = pages[pageNow()]);
    ctx.colors = palette(root);
    const { scrollLeft, scrollTop } = stage.node;
    stage.clear(`${page.name}: ${page.R} rows, ${page.C} columns`, page.R, page.C);
    picture = views[stage.view()](ctx, stage.node, stage.cell);
    stage.node.scrollTo(scrollLeft, scrollTop);
    [...tabs.children].forEach((button, i) =>
      button.setAttribute("aria-pressed", String(i === pageNow())));
    legend.replaceChildren(...legendParts());
    note.textContent = page.note;
    stage.hint.textContent = [
      stage.onGrid() && `Arrow keys: ${page.labels.join(" and ")}`,
      stage.onGrid() && pages.length > 1 && "[ ]: page",
      "Esc: back to the notebook",
    ].filter(Boolean).join(" · ");
    picture.paint();
    point();
  }

  function legendParts() {
    const { signed, ends, anyEmpty } = ctx.page;
    const marks = signed ? [ends[0], "0", ends[1]] : ends;
    const ticks = marks.map((text, i) =>
      el("span", { text, style: `left:${(100 * i) / (marks.length - 1)}%` }));
    return [
      el("div", { class: "tn-grid-scale" },
        el("div", { class: `tn-grid-ramp ${signed ? "tn-grid-signed" : ""}` }), ...ticks),
      anyEmpty && el("span", { class: "tn-grid-swatch" }),
      anyEmpty && el("span", { text: "empty" }),
    ].filter(Boolean);
  }

  /** Take over what Python sent. */
  function load() {
    pages = model.get("pictures").map(unpack);
    const names = pages.length > 1 ? pages.map((page) => page.name) : [];
    const known = [...tabs.children].map((button) => button.title);
    // A button that stays keeps the focus.
    if (JSON.stringify(names) !== JSON.stringify(known))
      tabs.replaceChildren(...names.map((name, page) => el("button", {
        type: "button", title: name, onclick: () => step({ page: page - pageNow() }),
      }, ...typeset(name))));
    tabs.hidden = !names.length;
    stage.leave();
    stage.relay();
  }

  listen("change:pictures", load);
  listen("change:page", stage.relay);
  for (const name of ["row", "column"]) listen(`change:${name}`, () => stage.isOnPage() && point());
  load();
});
