// The attention matrix. Keys run down, queries across; what is chosen lives on the model, so all
// views and Python share it; what is hovered, and which picture is shown, belong to one view.

const STEPS = {
  ArrowUp: ["key", -1], ArrowDown: ["key", 1], ArrowLeft: ["query", -1], ArrowRight: ["query", 1],
  Home: ["query", -Infinity], End: ["query", Infinity],
  "[": ["head", -1], "]": ["head", 1], PageUp: ["layer", -1], PageDown: ["layer", 1],
};
const HEAD_STEPS = {
  ArrowUp: ["layer", -1], ArrowDown: ["layer", 1], ArrowLeft: ["head", -1], ArrowRight: ["head", 1],
  Home: ["head", -Infinity], End: ["head", Infinity],
};
const SMALLEST = 11; // pixels of a cell whose label can still be read
const BESIDE = 44; // pixels for the column of numbers beside narrow cells
const TALLEST = 660; // pixels the rows may take before they shrink

/** Everything that Python sent, with typed arrays instead of bytes. */
function unpack(model) {
  const copy = (name) => {
    const view = model.get(name);
    return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
  };
  const [layers, heads, K, Q] = model.get("shape");
  const weights = new Float32Array(copy("weights"));
  const mask = new Uint8Array(copy("mask"));
  const names = model.get("key_tokens"); // also of keys that are not drawn
  const strongestKeys = new Int32Array(copy("strongest_keys"));
  const strongestWeights = new Float32Array(copy("strongest_weights"));
  const count = strongestKeys.length / (layers * heads * Q);
  const data = {
    layers, heads, K, Q, mask, names,
    masked: model.get("masked"),
    strongest({ layer, head }, query) {
      const from = ((layer * heads + head) * Q + query) * count;
      const pairs = Array.from(strongestKeys.subarray(from, from + count),
        (key, i) => ({ key, weight: strongestWeights[from + i] }));
      return pairs.filter(({ key }) => key >= 0);
    },
    keys: names.slice(0, K),
    queries: model.get("query_tokens"),
    anyMasked: mask.includes(1),
    top: Math.max(1, weights.reduce((a, b) => Math.max(a, b), 0)),
    head: (layer, head) => weights.subarray((layer * heads + head) * K * Q).subarray(0, K * Q),
  };
  const [dq, dv] = model.get("features");
  if (dq) {
    const numbers = new Float32Array(copy("vectors"));
    let at = 0;
    const take = (features, tokens) => {
      const matrix = numbers.subarray(at, (at += features * tokens));
      return (token) => Array.from({ length: features }, (_, d) => matrix[d * tokens + token]);
    };
    data.vectors = { q: take(dq, Q), k: take(dq, K), v: take(dv, K), output: take(dv, Q) };
  }
  return data;
}

/** The colors of the theme, read from the style sheet; weights are colored by their square root. */
function palette(root) {
  const { rgb, mix, css, isLight } = theme(root);
  const ink = (color) => (isLight(color) ? "#10161d" : "#ffffff");
  const low = rgb("map-low"), middle = rgb("map-middle"), high = rgb("map-high");
  const map = Array.from({ length: 256 }, (_, i) =>
    i < 128 ? mix(low, middle, i / 128) : mix(middle, high, (i - 128) / 127));
  const shade = (t) => map[Math.round(255 * clamp(Math.sqrt(t), 0, 1))];
  const zero = rgb("panel"), plus = rgb("plus"), minus = rgb("minus");
  return {
    rgb: shade,
    fill: map.map(css),
    index: (t) => Math.round(255 * clamp(Math.sqrt(t), 0, 1)),
    ink: (t) => ink(shade(t)),
    sign: (t) => {
      const color = mix(zero, t < 0 ? minus : plus, Math.abs(t));
      return `background:${css(color)};color:${ink(color)}`;
    },
    hatch: css(mix(low, rgb("muted"), 0.3)),
    masked: rgb("line"),
    text: css(rgb("ink")),
  };
}

/** The width of the widest token, up to a limit beyond which labels are cut with an ellipsis. */
function widest(tokens, size, limit = 120) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `600 ${size}px system-ui, sans-serif`; // as a chosen label is set
  return Math.min(limit, Math.max(...tokens.map((t) => context.measureText(t.slice(0, 60)).width)));
}

/** The matrix: labels are text, cells a canvas, the chosen column a narrow canvas on top. */
function matrixView(ctx, stage, cell) {
  const { data } = ctx;
  const { K, Q } = data;
  const height = clamp(Math.floor(TALLEST / K), SMALLEST, 32);
  const size = height < 16 ? 10 : 13;
  const side = Math.max(56, widest(data.keys, size) + 12); // "keys ↓" must fit as well
  const label = widest(data.queries, 13);
  const room = ctx.room() - side - 2;
  let width = Math.max(34, label + 14), turn = 0;
  if (width > 84 || width * Q > room) {
    const slanted = room - label * 0.6;
    turn = Math.floor(slanted / Q) >= 22 ? 50 : 90;
    width = clamp(Math.floor((turn === 50 ? slanted : room) / Q), SMALLEST, 34);
  }
  // Narrow columns have no room for numbers: these get a column of their own, at the right.
  const inside = width >= 24;
  if (!inside) width = clamp(Math.floor((room - BESIDE) / Q), SMALLEST, width);
  const row = turn ? Math.min(height, Math.max(width, 18)) : height; // 18: a label's line
  const headSize = turn === 90 && width < 16 ? 10 : 13;
  const rise = turn === 0 ? 24 : turn === 50 ? label * 0.77 + 22 : label * (headSize / 13) + 14;
  const overhang = turn === 50 ? Math.max(0, label * 0.66 - width / 2) + 6 : 0;

  const heat = el("canvas");
  const strip = el("canvas", { class: "tn-strip" });
  const hovered = el("div", { class: "tn-hovered", hidden: true });
  const top = el("div", {
    class: `tn-top tn-turn${turn}`,
    style: `width:${width * Q + overhang}px;height:${rise + 18}px;font-size:${headSize}px`,
  }, el("div", { class: "tn-axis", text: "queries →" }));
  const heads = data.queries.map((token, q) => el("span", {
    "data-query": q, title: token, dir: "auto", text: token,
    style: turn ? `left:${(q + 0.5) * width}px` : `left:${q * width}px;width:${width}px`,
  }));
  const chosen = el("div", { class: "tn-name", dir: "auto" });
  top.append(...heads);
  const rows = data.keys.map((token, k) => el("span", {
    "data-key": k, title: token, dir: "auto", text: token,
    style: `height:${row}px;line-height:${row}px`,
  }));
  const body = el("div", { class: "tn-body" }, heat, inside ? strip : null, hovered, cell.parentNode);
  const beside = inside ? 0 : BESIDE;
  stage.append(el("div", {
    class: "tn-matrix", style: `grid-template-columns:${side}px auto ${beside}px`,
  },
  el("div", { class: "tn-corner tn-axis", text: "keys ↓" }), top,
  el("div", { class: "tn-beside tn-top" }, inside ? null : chosen),
  el("div", { class: "tn-side", style: `font-size:${size}px` }, ...rows), body,
  el("div", { class: "tn-beside" }, inside ? null : strip)));
  cell.style.cssText = hovered.style.cssText = `width:${width}px;height:${row}px`;

  const gap = width >= SMALLEST + 2 && row >= SMALLEST + 2 ? 1 : 0.5;
  const place = (node, { query, key }) => {
    node.style.left = `${query * width}px`;
    node.style.top = `${key * row}px`;
  };
  const paint = () => {
    const { colors } = ctx, weights = ctx.weights();
    const g = sized(heat, width * Q, row * K);
    const hatch = hatching(colors);
    for (let k = 0; k < K; k++) {
      for (let q = 0; q < Q; q++) {
        const box = [q * width, k * row, width - gap, row - gap];
        g.fillStyle = colors.fill[colors.index(weights[k * Q + q] / data.top)];
        g.fillRect(...box);
        if (data.mask[k * Q + q]) {
          g.fillStyle = hatch;
          g.fillRect(...box);
        }
      }
    }
  };
  const point = (at) => {
    const { colors } = ctx, weights = ctx.weights();
    const across = inside ? width : BESIDE - 4;
    const g = sized(strip, across, row * K);
    if (inside) strip.style.left = `${at.query * width}px`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.font = `${clamp(row - 1, 9, inside && width < 32 ? 10 : 12)}px system-ui, sans-serif`;
    for (let k = 0; k < K; k++) {
      const i = k * Q + at.query;
      if (data.mask[i] && !weights[i]) continue;
      g.fillStyle = inside ? colors.ink(weights[i] / data.top) : colors.text;
      g.fillText(two(weights[i]), across / 2 - gap / 2, (k + 0.5) * row, across - 3);
    }
    place(cell, ctx.pinned());
    place(hovered, at);
    hovered.hidden = !ctx.hover();
    chosen.textContent = data.queries[at.query];
    heads.forEach((head, q) => head.classList.toggle("tn-on", q === at.query));
    rows.forEach((name, k) => name.classList.toggle("tn-on", k === at.key));
  };
  const locate = (event) => {
    const box = heat.getBoundingClientRect();
    const query = Math.floor((event.clientX - box.left) / width);
    const key = Math.floor((event.clientY - box.top) / row);
    return query >= 0 && query < Q && key >= 0 && key < K ? { query, key } : null;
  };
  const reveal = ({ query, key }) => {
    // The labels stick to the edges: a cell must be clear of them to be seen.
    const x = side + query * width, y = top.offsetHeight + key * row;
    const right = x + 2 * width + beside - stage.clientWidth;
    stage.scrollLeft = clamp(stage.scrollLeft, right, x - side);
    const above = top.offsetHeight;
    stage.scrollTop = clamp(stage.scrollTop, y + 2 * row - stage.clientHeight, y - above);
  };
  return { paint, point, locate, reveal };
}

/** Arcs: the chosen query on the left, its keys on the right, thickness by weight. */
function arcsView(ctx, stage, cell) {
  const { data } = ctx;
  const { K, Q } = data;
  const row = clamp(Math.floor(TALLEST / Math.max(K, Q)), 17, 26);
  const left = Math.max(widest(data.queries, 13) + 20, 70);
  const right = Math.max(widest(data.keys, 13) + 20, 60);
  const span = clamp(ctx.room() - left - right - 76, 60, 280);
  const height = row * Math.max(K, Q);
  const lines = svg("svg", { width: span, height, "aria-hidden": "true" });
  const column = (tokens, kind) => tokens.map((token, i) => el("span", {
    [`data-${kind}`]: i, title: token, dir: "auto", text: token,
    style: `height:${row}px;line-height:${row}px`,
  }));
  const queries = column(data.queries, "query"), keys = column(data.keys, "key");
  const numbers = data.keys.map((_, k) =>
    el("span", { "data-key": k, style: `height:${row}px;line-height:${row}px` }));
  const paths = data.keys.map(() => svg("path", { fill: "none" }));
  lines.append(...paths);
  stage.append(cell.parentNode, el("div", {
    class: "tn-arcs", style: `grid-template-columns:${left}px ${span}px ${right}px 76px`,
  },
  el("div", { class: "tn-axis tn-end", text: "queries" }), el("div"),
  el("div", { class: "tn-axis", text: "keys" }), el("div", { class: "tn-axis", text: "weight" }),
  el("div", { class: "tn-end" }, ...queries), lines, el("div", {}, ...keys),
  el("div", { class: "tn-numbers" }, ...numbers)));
  cell.style.cssText = "";

  const point = (at) => {
    const weights = ctx.weights();
    const y = (i) => (i + 0.5) * row;
    paths.forEach((path, k) => {
      const i = k * Q + at.query, weight = weights[i];
      const masked = data.mask[i] && !weight;
      const from = y(at.query), to = y(k), half = span / 2;
      path.setAttribute("d", `M0 ${from}C${half} ${from} ${half} ${to} ${span} ${to}`);
      path.setAttribute("stroke-width", 0.4 + (9 * weight) / data.top);
      path.setAttribute("display", weight < 0.005 ? "none" : "inline"); // it would read 0.00
      path.setAttribute("class", k === at.key ? "tn-chosen" : "");
      path.setAttribute("opacity", k === at.key ? 1 : 0.25 + 0.6 * Math.sqrt(weight / data.top));
      numbers[k].textContent = masked ? "masked" : two(weight);
      keys[k].classList.toggle("tn-on", k === at.key);
      numbers[k].classList.toggle("tn-on", k === at.key);
    });
    lines.append(paths[at.key]); // drawn last, on top of the others
    queries.forEach((label, q) => label.classList.toggle("tn-on", q === at.query));
  };
  const reveal = ({ key }) => {
    const y = key * row;
    stage.scrollTop = clamp(stage.scrollTop, y + 3 * row - stage.clientHeight, y);
  };
  return { paint: () => {}, point, locate: () => null, reveal };
}

/** The numbers as a table, for reading, copying, and screen readers. */
function tableView(ctx, stage) {
  const { data } = ctx;
  const { K, Q } = data;
  const cells = Array.from({ length: K * Q }, () => el("td"));
  const heads = data.queries.map((token) =>
    el("th", { scope: "col", title: token }, el("span", { dir: "auto", text: token })));
  const rows = data.keys.map((token, k) => el("tr", {},
    el("th", { scope: "row", title: token }, el("span", { dir: "auto", text: token })),
    ...cells.slice(k * Q, (k + 1) * Q)));
  stage.append(el("table", { class: "tn-table" },
    el("caption", { class: "tn-spoken", text: "Attention weights: keys down, queries across" }),
    el("thead", {},
      el("tr", {}, el("th", { scope: "col", text: "keys ↓ queries →" }), ...heads)),
    el("tbody", {}, ...rows)));
  const paint = () => {
    const weights = ctx.weights();
    cells.forEach((td, i) => {
      td.textContent = data.mask[i] && !weights[i] ? "masked" : two(weights[i]);
    });
  };
  let marked = [];
  const point = (at) => {
    marked.forEach((node) => node.classList.remove("tn-on"));
    marked = [heads[at.query], ...data.keys.map((_, k) => cells[k * Q + at.query])];
    marked.forEach((node) => node.classList.add("tn-on"));
  };
  return { paint, point, locate: () => null, reveal: () => {} };
}

/** For one query: its vector, every key with score, weight and value, and the output they make. */
function vectorsPanel(ctx, box) {
  const { data } = ctx;
  const { q, k, v, output } = data.vectors;
  const columns = (vector, tokens) => tokens.map((_, i) => vector(i));
  // Features × tokens may be more numbers than a function takes arguments.
  const largest = (vectors) => vectors.flat().reduce((a, b) => Math.max(a, Math.abs(b)), 1e-9);
  const keyScale = largest([...columns(q, data.queries), ...columns(k, data.keys)]);
  const valueScale = largest(columns(v, data.keys));
  const strip = (vector, scale) => {
    // More than eight numbers would not be read, only seen: these become bars, up or down.
    const read = vector.length <= 8;
    return el("td", { title: read ? null : vector.map(two).join("  ") },
      el("div", { class: read ? "tn-vector" : "tn-vector tn-bars" }, ...vector.map((x) => read
        ? el("span", { text: two(x), style: ctx.colors.sign((0.85 * x) / scale) })
        : el("span", {
          class: x < 0 ? "tn-down" : "tn-up", style: `--size:${(50 * Math.abs(x)) / scale}%`,
        }))));
  };
  const head = (name, math) => el("th", { scope: "col" }, name, el("i", { text: ` ${math}` }));
  const draw = (at) => {
    const weights = ctx.weights();
    const token = data.queries[at.query], asks = q(at.query);
    let sum = 0;
    const rows = data.keys.map((name, m) => {
      const i = m * data.Q + at.query, key = k(m);
      sum += weights[i];
      return el("tr", { class: m === at.key ? "tn-on" : null },
        el("th", { scope: "row", title: name }, el("span", { dir: "auto", text: name })),
        strip(key, keyScale),
        el("td", { text: two(key.reduce((total, x, d) => total + x * asks[d], 0)) }),
        el("td", {
          class: "tn-bar", style: `--share:${(100 * weights[i] / data.top).toFixed(1)}%`,
          text: data.mask[i] && !weights[i] ? "masked" : two(weights[i]),
        }),
        strip(v(m), valueScale));
    });
    box.replaceChildren(el("table", {},
      el("caption", {}, "How query ‘", el("bdi", { text: token }), "’ makes its output"),
      el("thead", {},
        el("tr", { class: "tn-query" }, el("th", { scope: "row", text: "query q" }),
          strip(asks, keyScale), el("td"), el("td"), el("td")),
        el("tr", {}, el("th", { scope: "col", text: "token" }), head("key", "k"),
          head("score", "k·q"), head("weight", "a"), head("value", "v"))),
      el("tbody", {}, ...rows),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row", text: "output V a" }), el("td"),
        el("td", { text: "sum" }), el("td", { text: two(sum) }),
        strip(output(at.query), valueScale)))));
  };
  return draw;
}

/** A layer and a head in words, as far as there are several. */
const place = ({ layers, heads }, layer, head) =>
  [layers > 1 && `layer ${layer}`, heads > 1 && `head ${head}`].filter(Boolean).join(", ");

/** One small picture a head, each a button; together one stop of the Tab key. */
function headPicker(ctx, box, choose) {
  const { layers, heads, K, Q } = ctx.data;
  box.hidden = layers * heads === 1;
  if (box.hidden) return { paint: () => {}, point: () => {} };
  box.classList.toggle("tn-one-layer", layers === 1);
  const fitting = Math.floor((ctx.width() - 60) / heads) - 6;
  const size = clamp(fitting, 24, heads > 8 || layers > 8 ? 24 : 36);
  const buttons = [];
  const grid = el("div", { class: "tn-heads", style: `--size:${size}px;--heads:${heads}` });
  const corner = layers > 1 ? (heads > 1 ? "layer ↓ head →" : "layer ↓") : "head →";
  grid.append(el("span", { class: "tn-axis tn-wide", text: corner }));
  if (heads > 1) {
    grid.append(el("span"));
    for (let head = 0; head < heads; head++)
      grid.append(el("span", { class: "tn-number", text: String(head) }));
  }
  for (let layer = 0; layer < layers; layer++) {
    grid.append(el("span", { class: "tn-number", text: layers > 1 ? String(layer) : "" }));
    for (let head = 0; head < heads; head++) {
      const button = el("button", {
        type: "button", tabindex: -1, title: place(ctx.data, layer, head),
        "aria-label": place(ctx.data, layer, head), "data-head": head, "data-layer": layer, onclick: () => choose({ layer, head }),
      }, el("canvas", { "aria-hidden": "true" }));
      buttons.push(button);
      grid.append(button);
    }
  }
  box.replaceChildren(grid);

  const paint = () => {
    const { colors, data } = ctx;
    const source = document.createElement("canvas");
    source.width = Q;
    source.height = K;
    const from = source.getContext("2d");
    const image = from.createImageData(Q, K);
    // Small matrices keep hard edges, large ones are averaged down.
    const smooth = Math.max(K, Q) > size;
    buttons.forEach((button, i) => {
      const weights = data.head(Math.floor(i / heads), i % heads);
      for (let c = 0; c < K * Q; c++) {
        const rgb = data.mask[c] && !weights[c] ? colors.masked : colors.rgb(weights[c] / data.top);
        image.data.set(rgb, 4 * c);
        image.data[4 * c + 3] = 255;
      }
      from.putImageData(image, 0, 0);
      const g = sized(button.firstChild, size, size);
      g.imageSmoothingEnabled = smooth;
      g.drawImage(source, 0, 0, size, size);
    });
  };
  const point = () => {
    const now = ctx.pinned();
    const old = buttons.find((button) => button.tabIndex === 0);
    const chosen = buttons[now.layer * heads + now.head];
    if (old === chosen) return;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button === chosen));
      button.tabIndex = button === chosen ? 0 : -1;
    }
    if (old && old === document.activeElement) chosen.focus();
  };
  return { paint, point };
}

export default widget((tools) => {
  const { model, root, listen, cleanup } = tools;
  root.classList.add("tn-attention");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Attention weights");
  const views = { Matrix: matrixView, Arcs: arcsView, Table: tableView };
  let lastFrame = null;
  let picture, picker, drawVectors;

  const status = statusLine();
  const legend = el("div", { class: "tn-legend" });
  const heads = el("div", { class: "tn-picker", role: "group", "aria-label": "Heads" });
  const panel = el("div", { class: "tn-vectors", role: "group", "aria-label": "Vectors" });
  const note = el("div", { class: "tn-note" });
  const stage = cellStage(tools, {
    prefix: "tn-",
    views: Object.keys(views),
    lay,
    point,
    locate(event) {
      const label = event.target.closest?.("[data-query], [data-key]");
      if (!label) return picture.locate(event);
      const { query, key } = ctx.pinned();
      if (label.dataset.query) return { query: Number(label.dataset.query), key };
      return { query, key: Number(label.dataset.key) };
    },
    keysAt: (target, onGrid) =>
      heads.contains(target) ? { ...STEPS, ...HEAD_STEPS } : onGrid ? STEPS : null,
    step([name, by]) {
      const { layers, heads, Q, K } = ctx.data;
      const size = { layer: layers, head: heads, query: Q, key: K }[name];
      stage.choose({ [name]: clamp(model.get(name) + by, 0, size - 1) });
      if (stage.onGrid()) picture.reveal(ctx.pinned());
    },
  });

  if (model.get("controls").length) root.append(controlsBar(model, listen));
  root.append(
    el("div", { class: "tn-bar-top" }, legend,
      el("div", { class: "tn-views", role: "group", "aria-label": "View" }, ...stage.buttons)),
    ...status.nodes, el("div", { class: "tn-pictures" }, heads, stage.node, panel),
    el("div", { class: "tn-foot" }, note, stage.hint));
  cleanup(status.stop);

  const ctx = {
    data: null,
    colors: null,
    width: () => root.clientWidth - 30,
    hover: stage.hover,
    // A new, smaller matrix may arrive before Python has moved what was chosen inside it.
    pinned() {
      const { layers, heads, K, Q } = ctx.data;
      const within = (name, size) => Math.min(model.get(name), size - 1);
      return {
        layer: within("layer", layers), head: within("head", heads),
        query: within("query", Q), key: within("key", K),
      };
    },
    weights() {
      const { layer, head } = ctx.pinned();
      return ctx.data.head(layer, head);
    },
    // The picture stands beside the heads and vectors where that leaves it enough room.
    room() {
      const width = ctx.width();
      const beside = [heads, panel].filter((x) => !x.hidden && !x.matches(".tn-one-layer"))
        .reduce((sum, x) => sum + x.offsetWidth + 24, 0);
      return width - beside >= 300 ? width - beside : width;
    },
  };

  function say(at) {
    const { data } = ctx, weights = ctx.weights(), pinned = ctx.pinned();
    const name = (token) => isolated(brief(token));
    const strongest = data.strongest(pinned, at.query);
    const parts = strongest.map(({ key, weight }) => `${name(data.names[key])} ${two(weight)}`);
    if (data.masked[at.query]) parts.push(`${data.masked[at.query]} masked`);
    const content = (key, query) => {
      const i = key * data.Q + query;
      return data.mask[i] && !weights[i] ? "masked" : two(weights[i]);
    };
    const own = strongest.some(({ key }) => key === at.key) ? ""
      : ` · key '${name(data.keys[at.key])}': ${content(at.key, at.query)}`;
    status.say(`query '${name(data.queries[at.query])}': ${parts.join(", ")}${own}`,
      place(data, pinned.layer, pinned.head));
    stage.tell(pinned.key, pinned.query, `key ${data.keys[pinned.key]}, ` +
      `query ${data.queries[pinned.query]}: ${content(pinned.key, pinned.query)}`);
  }

  function point() {
    const at = stage.hover() ?? ctx.pinned();
    picker.point();
    picture.point(at);
    drawVectors?.(at);
    say(at);
  }

  function paint() {
    picture.paint();
    point();
  }

  /** Build everything for the present data, view and width. */
  function lay() {
    const { data } = ctx;
    ctx.colors = palette(root);
    picker = headPicker(ctx, heads, stage.choose);
    panel.hidden = !data.vectors;
    drawVectors = data.vectors && vectorsPanel(ctx, panel);
    drawVectors?.(ctx.pinned());
    const { scrollLeft, scrollTop } = stage.node;
    stage.clear(stage.onGrid()
      ? `Weights of ${data.K} keys (rows) and ${data.Q} queries (columns)` : "Table of weights",
    data.K, data.Q);
    picture = views[stage.view()](ctx, stage.node, stage.cell);
    stage.node.scrollTo(scrollLeft, scrollTop);
    legend.replaceChildren(...legendParts());
    note.textContent = model.get("note");
    stage.hint.textContent = `Arrow keys: key and query${data.heads > 1 ? " · [ ]: head" : ""}${
      data.layers > 1 ? " · Page Up, Page Down: layer" : ""} · Esc: back to the notebook`;
    picker.paint();
    paint();
  }

  function legendParts() {
    const { data } = ctx;
    const ticks = [0, 0.1, 0.5, data.top].map((weight) => el("span", {
      text: weight === 0 || weight === 1 ? String(weight) : String(Number(weight.toFixed(2))),
      style: `left:${100 * Math.sqrt(weight / data.top)}%`,
    }));
    return [
      el("span", { text: "weight" }),
      el("div", { class: "tn-scale" }, el("div", { class: "tn-ramp" }), ...ticks),
      data.anyMasked ? el("span", { class: "tn-swatch" }) : null,
      data.anyMasked ? el("span", { text: "masked" }) : null,
    ].filter(Boolean);
  }

  /** Take over what Python sent. Where only numbers changed, what stands on the page stays. */
  function load() {
    const data = unpack(model);
    const frame = JSON.stringify([
      model.get("shape"), data.names, data.queries, data.anyMasked, data.top, model.get("note"),
    ]);
    if (frame === lastFrame && stage.isOnPage() && !data.vectors) {
      Object.assign(ctx.data, data);
      picker.paint();
      paint();
      return;
    }
    ctx.data = data;
    lastFrame = frame;
    stage.leave();
    stage.relay();
  }

  listen("change:answered", load);
  for (const name of ["query", "key"]) listen(`change:${name}`, () => stage.isOnPage() && point());
  for (const name of ["layer", "head"]) listen(`change:${name}`, () => stage.isOnPage() && paint());
  load();
});
