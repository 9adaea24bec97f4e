// Points of the plane with arrows from where they were to where they are; words stand beside the
// places where they were, so that they are found again while the points move.

const REACH = 36; // pixels from a mark at which the mouse still chooses it
const LINE = 16; // height of a label

const overlap = (a, b) =>
  Math.max(0, Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0]))
  * Math.max(0, Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]));

/** Small boxes along an arrow, for what should not cover it. */
function along([x1, y1], [x2, y2]) {
  const steps = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6);
  return Array.from({ length: steps + 1 }, (_, i) => {
    const by = steps && i / steps;
    return [x1 + by * (x2 - x1) - 3, y1 + by * (y2 - y1) - 3, 6, 6];
  });
}

/**
 * Where each label goes: a box [left, top, width, height] beside the mark where its point was. One
 * after the other takes the place that covers least of marks, arrows and the labels before it;
 * `free` says whether that leaves everything readable.
 */
function placed(ways, widths, frame) {
  const drawn = ways.flatMap(([from, { end }]) =>
    [...along(from, end), ...[from, end].map(([x, y]) => [x - 6, y - 6, 12, 12])]);
  const labels = []; // boxes of those that are shown
  return ways.map(([[x, y]], i) => {
    const w = widths[i];
    const choices = [
      [x + 9, y - LINE / 2], [x - w - 9, y - LINE / 2],
      [x - w / 2, y - LINE - 7], [x - w / 2, y + 7],
      [x + 6, y - LINE - 4], [x + 6, y + 4], [x - w - 6, y - LINE - 4], [x - w - 6, y + 4],
    ].map(([left, top]) => [left, top, w, LINE]);
    const around = [x - w - 9, y - LINE - 7, 2 * w + 18, 2 * LINE + 14];
    const near = (others) => others.filter((other) => overlap(around, other));
    const [marks, words] = [near(drawn), near(labels)];
    const total = (box, others) => others.reduce((sum, other) => sum + overlap(box, other), 0);
    const covered = choices.map((box) =>
      w * LINE - overlap(box, frame) + total(box, marks) + 3 * total(box, words));
    const best = choices[covered.indexOf(Math.min(...covered))];
    // Whatever it covers, no label is cut off at the border.
    const box = [0, 1].map((axis) => {
      const [from, size] = [frame[axis], frame[axis + 2]];
      return clamp(best[axis], from, Math.max(from, from + size - best[axis + 2]));
    }).concat(best.slice(2));
    const free = Math.min(...covered) < 0.4 * w * LINE;
    if (free) labels.push(box);
    return { box, free };
  });
}

export default widget(({ model, root, listen, cleanup }) => {
  const picture = () => model.get("picture");
  let chosen = picture().start;
  let places = []; // of each point, before and after, once drawn

  const stage = el("div", { class: "tn-moves-stage" });
  const list = svg("g", { role: "listbox", "aria-label": "words" });
  walk(list);
  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const note = el("div", { class: "tn-small-note" });
  const hint = el("div", { class: "tn-small-caption" });
  const numbers = numbersTable();
  const mark = (kind, text) =>
    el("span", {},
      svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14" },
        svg("circle", { class: kind, r: 4.5 })),
      el("span", { text }));
  root.append(
    ...(model.get("controls").length ? [controlsBar(model, listen)] : []),
    el("div", { class: "tn-moves-legend", "aria-hidden": "true" },
      mark("tn-moves-before", "before"), mark("tn-moves-after", "after")),
    stage, el("div", { class: "tn-small-sentence" }, ...nodes), note, hint, ...numbers.nodes);

  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text) => {
    pen.font = `600 13px ${getComputedStyle(root).fontFamily}`;
    return pen.measureText(text).width;
  };

  let labels = [];
  const point = () => {
    select(list, chosen);
    labels.forEach((node, i) => node.classList.toggle("tn-moves-chosen", i === chosen));
    say(picture().points[chosen].words);
  };
  const choose = (to) => {
    chosen = to;
    point();
  };

  /** The last place on the way from one place to another that lies in the frame. */
  const cut = ([x1, y1], [x2, y2], [left, top, width, height]) => {
    const share = (from, to, low, high) =>
      to > high ? (high - from) / (to - from) : to < low ? (low - from) / (to - from) : 1;
    const way = Math.min(share(x1, x2, left, left + width), share(y1, y2, top, top + height));
    return { end: [x1 + way * (x2 - x1), y1 + way * (y2 - y1)], beyond: way < 1 };
  };

  const draw = () => {
    const width = stage.clientWidth;
    if (!width) return; // hidden, or on no page yet
    const { points, low, high } = picture();
    const drawing = plane(low, high, width, "plane of the words");
    const at = ([x, y]) => [drawing.x(x), drawing.y(y)];
    const [left, top] = at([low[0], high[1]]);
    const [right, bottom] = at([high[0], low[1]]);
    const frame = [left, top, right - left, bottom - top];
    places = points.map(({ before, after }) => [at(before), cut(at(before), at(after), frame)]);
    const spots = placed(places, points.map((p) => widthOf(p.label)), frame);
    labels = spots.map(({ box: [x, y], free }, i) =>
      label(x, y + LINE - 4, points[i].label, {
        class: `tn-small-label ${free ? "" : "tn-moves-crowded"}`,
      }));
    hint.textContent = [
      "Point at the picture or use the arrow keys.",
      spots.every(({ free }) => free) ? "" : "Words without room show when chosen.",
      places.some(([, { beyond }]) => beyond) ? "Dashed arrows lead out of the picture." : "",
    ].filter(Boolean).join(" ");
    const options = places.map(([from, { end, beyond }], i) => {
      const way = arrow(beyond ? "tn-moves-beyond" : "");
      const length = Math.hypot(end[0] - from[0], end[1] - from[1]);
      // From the edge of the hollow mark to the edge of the filled one.
      const after = (by) => from.map((v, axis) => v + (by * (end[axis] - v)) / length);
      if (length > 12) way.set(after(5), beyond ? end : after(length - 5));
      return svg("g", {
        class: "tn-moves-point", role: "option", tabindex: -1, "aria-label": points[i].words,
        onfocus: () => choose(i),
      },
        way.node,
        svg("circle", { class: "tn-moves-before", cx: from[0], cy: from[1], r: 4.5 }),
        beyond ? null
          : svg("circle", { class: "tn-moves-after", cx: end[0], cy: end[1], r: 4.5 }),
        svg("circle", { class: "tn-small-ring", cx: from[0], cy: from[1], r: 12 }));
    });
    const held = list.contains(document.activeElement);
    list.replaceChildren(...options);
    drawing.node.append(list, svg("g", { "aria-hidden": "true" }, ...labels));
    stage.replaceChildren(drawing.node);
    point();
    if (held) list.children[chosen].focus({ preventScroll: true });
  };

  stage.addEventListener("pointermove", (event) => {
    const box = stage.getBoundingClientRect();
    const mouse = [event.clientX - box.left, event.clientY - box.top];
    const away = places.map(([from, { end }]) => Math.min(
      ...[from, end].map(([x, y]) => Math.hypot(x - mouse[0], y - mouse[1]))));
    const nearest = away.indexOf(Math.min(...away));
    if (away[nearest] < REACH && nearest !== chosen) choose(nearest);
  });
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // or the notebook takes the focus for its cell
    list.children[chosen].focus({ preventScroll: true });
  });

  const answer = () => {
    const { points, columns, rows, note: sentence } = picture();
    chosen = Math.min(chosen, points.length - 1);
    numbers.fill(columns, rows);
    note.textContent = sentence;
    draw();
  };
  listen("change:picture", answer);
  const resized = new ResizeObserver(draw);
  resized.observe(stage);
  cleanup(() => resized.disconnect());
  answer();
});
