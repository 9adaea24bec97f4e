// A chart of curves over one axis. Python sends places from 0 to 1 and all words; the crosshair
// follows mouse and arrow keys without asking it.

const HEIGHT = 330;
const ROW = 17; // between two labels, one above the other
const MARKERS = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", // circle
  "M-4 -4h8v8h-8Z", // square
  "M0 -5L5 0L0 5L-5 0Z", // diamond
  "M0 -5L5 4H-5Z", // triangle
  "M0 5L5 -4H-5Z", // triangle upside down
  "M-4 -4L4 4M-4 4L4 -4", // cross
];

const marker = (curve, place) =>
  svg("path", { class: "tn-lines-marker", d: MARKERS[curve], transform: `translate(${place})` });

/** Rows for labels that would like to be at `wanted`, at least ROW apart, within top to bottom. */
function spread(wanted, top, bottom) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const rows = [];
  let last = top - ROW;
  for (const i of order) last = rows[i] = Math.max(wanted[i], last + ROW);
  let next = bottom + ROW;
  for (const i of order.reverse()) next = rows[i] = Math.min(rows[i], next - ROW);
  return rows;
}

export default widget(({ model, root, listen, cleanup }) => {
  const chart = () => model.get("chart");
  let index = chart().start;
  let place = null; // turns places from 0 to 1 into pixels, once drawn

  const title = el("div", { class: "tn-lines-title" });
  const legend = el("div", { class: "tn-lines-legend", "aria-hidden": "true" });
  const picture = svg("svg", { class: "tn-lines-chart", role: "group", height: HEIGHT });
  const stage = el("div", { class: "tn-lines-stage" }, picture);
  const still = svg("g", { "aria-hidden": "true" });
  const cross = svg("g", { class: "tn-lines-cross", "aria-hidden": "true" });
  const knob = handle("place on the x axis", "crosshair", 0, 1);
  picture.append(still, cross, knob);
  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const note = el("div", { class: "tn-lines-note" });
  if (model.get("controls").length) root.append(controlsBar(model, listen));
  root.append(title, legend, stage, ...nodes, note);

  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, weight = 400) => {
    pen.font = `${weight} 13px ${getComputedStyle(root).fontFamily}`;
    return pen.measureText(text).width;
  };
  const widest = (texts, weight) => Math.max(0, ...texts.map((text) => widthOf(text, weight)));

  /** The parts of a curve between gaps, as one path. */
  const path = (ys) => {
    let move = "M";
    return ys.map((y, i) => {
      const step = y === null ? "" : `${move}${place.x(chart().x[i])} ${place.y(y)}`;
      move = y === null ? "M" : "L";
      return step;
    }).join("");
  };

  /** The number of the point nearest to a place on the x axis. */
  const nearest = (at) => {
    const away = chart().x.map((x) => Math.abs(x - at));
    return away.indexOf(Math.min(...away));
  };

  /** The points that carry a marker: all of a few, else some, each curve's at its own places. */
  const marked = (curve) => {
    const { x, curves } = chart();
    if (x.length <= 12) return x.keys();
    const places = [0, 1, 2, 3, 4].map((i) => (i + (curve + 0.5) / curves.length) / 5);
    return new Set(places.map(nearest));
  };

  const inside = (y) => y !== null && y >= -1e-6 && y <= 1 + 1e-6;

  const draw = () => {
    const width = stage.clientWidth;
    if (!width) return; // hidden, or on no page yet
    const { labels, ticks, marks, curves, at, values } = chart();
    const names = curves.map((curve) => curve.name);
    const plain = names.map((name) => el("span", {}, ...typeset(name)).textContent);
    const nameWidth = widest(plain, 600);
    const direct = nameWidth < 0.28 * width;
    const left = Math.ceil(widest(ticks.y.map(([, words]) => words))) + 12;
    const right = width - (direct ? Math.ceil(nameWidth) + 24 : 22);
    const [top, bottom] = [28, HEIGHT - 46];
    place = {
      x: (u) => left + u * (right - left),
      y: (u) => bottom - u * (bottom - top),
      back: (px) => (px - left) / (right - left),
      left, right, top, bottom,
    };
    picture.setAttribute("width", width);
    still.replaceChildren();

    // Axes: lines across for y, short ticks for x; words that would touch are left out.
    const axes = svg("g", { class: "tn-lines-axes" });
    for (const [u, words] of ticks.y)
      axes.append(
        svg("path", { d: `M${left} ${place.y(u)}H${right}` }),
        svg("text", { x: left - 8, y: place.y(u) + 4, "text-anchor": "end", text: words }));
    const room = 12 + widest(ticks.x.map(([, words]) => words));
    const every = Math.ceil((room * (ticks.x.length - 1)) / (right - left)) || 1;
    ticks.x.forEach(([u, words], i) => {
      axes.append(svg("path", { class: "tn-lines-tick", d: `M${place.x(u)} ${bottom}v5` }));
      if (i % every) return;
      const half = widthOf(words) / 2 + 1;
      const x = clamp(place.x(u), half, width - half);
      axes.append(svg("text", { x, y: bottom + 21, "text-anchor": "middle", text: words }));
    });
    axes.append(
      svg("path", { class: "tn-lines-tick", d: `M${left} ${bottom}H${right}` }),
      svg("text", { class: "tn-lines-axis", x: 0, y: 13 }, ...lowered(`↑ ${labels.y}`)),
      svg("text", {
        class: "tn-lines-axis", x: Math.max(right, Math.min(width, 1.1 * widthOf(labels.x) + 30)),
        y: HEIGHT - 6, "text-anchor": "end",
      }, ...lowered(`${labels.x} →`)));
    still.append(axes);

    // Marks; their labels stand one below the other, or above their line.
    let row = top + 12;
    for (const { axis, place: u, label: text } of marks.filter((mark) => inside(mark.place))) {
      const upright = axis === "x";
      const late = upright && place.x(u) + widthOf(text) + 8 > right;
      still.append(
        svg("path", {
          class: "tn-lines-mark",
          d: upright ? `M${place.x(u)} ${top}V${bottom}` : `M${left} ${place.y(u)}H${right}`,
        }),
        label(upright ? place.x(u) + (late ? -6 : 6) : left + 6,
          upright ? row : place.y(u) + (u > 0.95 ? 15 : -5), text,
          { "text-anchor": late ? "end" : "start", class: "tn-small-label tn-lines-mark-label" }));
      if (upright) row += ROW;
    }

    // Curves: what leaves the axes is cut off there.
    const frame = svg("svg", {
      x: left - 2, y: top - 2, width: right - left + 4, height: bottom - top + 4,
      viewBox: `${left - 2} ${top - 2} ${right - left + 4} ${bottom - top + 4}`,
    });
    still.append(frame);
    const ends = curves.map(({ y }) => y.findLastIndex(inside));
    const rows = spread(
      curves.map(({ y }, i) => (ends[i] < 0 ? bottom : place.y(y[ends[i]]))), top, bottom);
    curves.forEach(({ name, y }, i) => {
      const look = { class: `tn-lines-curve tn-lines-${i}` };
      frame.append(svg("g", look, svg("path", { class: "tn-lines-line", d: path(y) })));
      const signs = svg("g", look);
      for (const point of marked(i))
        if (inside(y[point]))
          signs.append(marker(i, [place.x(chart().x[point]), place.y(y[point])]));
      if (direct) {
        const end = [place.x(chart().x[Math.max(ends[i], 0)]), rows[i]];
        if (ends[i] >= 0) end[1] = place.y(y[ends[i]]);
        signs.append(
          svg("path", { class: "tn-lines-leader", d: `M${end}L${right + 12} ${rows[i]}h4` }),
          svg("text", { x: right + 20, y: rows[i] + 4 }, ...lowered(name)));
      }
      still.append(signs);
    });
    legend.hidden = direct;
    legend.replaceChildren(...(direct ? [] : names.map((name, i) =>
      el("span", {},
        svg("svg", { class: `tn-lines-curve tn-lines-${i}`, width: 34, height: 14 },
          svg("path", { class: "tn-lines-line", d: "M0 7H34" }), marker(i, [17, 7])),
        el("span", {}, ...typeset(name))))));
    // Room for the longest sentence, so that nothing below moves with the crosshair.
    const sentence = at.at(-1) + values.reduce((a, b) => (a.length < b.length ? b : a));
    const full = widthOf(`${sentence}: `) / width;
    // Lines break at words, so that two or more are not quite full.
    nodes[0].style.minHeight = `${1.45 * (full < 1 ? 1 : Math.ceil(1.1 * full))}em`;
    point();
  };

  /** Put the crosshair where `index` says, and say what stands there. */
  const point = () => {
    const { x, curves, at, values } = chart();
    const px = place.x(x[index]);
    cross.replaceChildren(
      svg("path", { class: "tn-lines-hair", d: `M${px} ${place.top}V${place.bottom}` }),
      ...curves.map(({ y }, i) => inside(y[index]) && svg("circle", {
        class: `tn-lines-${i}`, cx: px, cy: place.y(y[index]), r: 5.5,
      })).filter(Boolean));
    knob.setAttribute("transform", `translate(${px} ${place.bottom})`);
    knob.setAttribute("aria-valuemax", x.length - 1);
    knob.setAttribute("aria-valuenow", index);
    const sentence = `${at[index]}: ${values[index]}`;
    knob.setAttribute("aria-valuetext", sentence);
    say(sentence);
    if (document.activeElement === knob) stop(); // the crosshair has just said it itself
    nodes[0].replaceChildren(...typeset(sentence));
  };
  const choose = (to) => {
    const within = clamp(to, 0, chart().x.length - 1);
    if (within === index || !place) return;
    index = within;
    point();
  };

  const follow = (event) =>
    place && choose(nearest(place.back(event.clientX - picture.getBoundingClientRect().left)));
  picture.addEventListener("pointermove", follow);
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // or the notebook takes the focus for its cell
    knob.focus({ preventScroll: true });
    follow(event);
  });
  knob.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") knob.closest(".jp-Cell")?.focus();
    const last = chart().x.length - 1;
    const far = Math.ceil(last / 10);
    const step = event.shiftKey ? Math.min(5, far) : 1;
    const to = {
      ArrowLeft: index - step, ArrowDown: index - step, PageDown: index - far, Home: 0,
      ArrowRight: index + step, ArrowUp: index + step, PageUp: index + far, End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  });

  const answer = () => {
    const { title: words, note: sentence, x } = chart();
    title.textContent = words;
    picture.setAttribute("aria-label", words);
    note.textContent = sentence;
    index = Math.min(index, x.length - 1);
    draw();
  };
  listen("change:chart", answer);
  const resized = new ResizeObserver(draw);
  resized.observe(stage);
  cleanup(() => resized.disconnect());
  answer();
});
