// Query and key in the planes of a rotary encoding: faint arrows before turning, strong ones after.

const RADIUS = 70; // of a plane's circle, where the longest arrow ends
const LEAST = 128; // pixels of a plane with its gap
const ARCS = [22, 29]; // radii of the marks for the turns of query and key

const onCircle = ([x, y]) => [RADIUS * x, -RADIUS * y];

/** The way of an arrow that turns counterclockwise by so many degrees, within a radius. */
function arc(kind, [x, y], degrees, widest) {
  const radius = Math.min(widest, RADIUS * Math.hypot(x, y));
  if (degrees < 1 || radius < 4) return null;
  const from = Math.atan2(y, x);
  const to = from + (degrees * Math.PI) / 180;
  const at = (angle) => `${radius * Math.cos(angle)} ${-radius * Math.sin(angle)}`;
  const large = degrees > 180 ? 1 : 0;
  return svg("path", {
    class: `tn-planes-arc ${kind}`, d: `M${at(from)}A${radius} ${radius} 0 ${large} 0 ${at(to)}`,
  });
}

/** The sector between two arrows after turning. */
function between(query, key) {
  const angles = [query, key].map(([x, y]) => Math.atan2(y, x));
  const ends = angles.map((angle) => `${RADIUS * Math.cos(angle)} ${-RADIUS * Math.sin(angle)}`);
  const sweep = Math.sin(angles[1] - angles[0]) > 0 ? 0 : 1;
  return svg("path", {
    class: "tn-planes-between", d: `M0 0L${ends[0]}A${RADIUS} ${RADIUS} 0 0 ${sweep} ${ends[1]}Z`,
  });
}

/** One plane: its circle, the turns, and the four arrows. */
function circle({ query, turnedQuery, key, turnedKey, turns }) {
  const edge = RADIUS + 5;
  const ray = (kind, tip) => {
    const made = arrow(kind);
    made.set([0, 0], onCircle(tip));
    return made.node;
  };
  return svg("svg", { viewBox: `${-edge} ${-edge} ${2 * edge} ${2 * edge}`, "aria-hidden": "true" },
    svg("path", { class: "tn-planes-axes", d: `M${-RADIUS} 0H${RADIUS}M0 ${-RADIUS}V${RADIUS}` }),
    between(turnedQuery, turnedKey),
    svg("circle", { class: "tn-planes-circle", r: RADIUS }),
    ray("tn-planes-query tn-planes-before", query),
    ray("tn-planes-key tn-planes-before", key),
    arc("tn-planes-query", query, turns[0], ARCS[0]),
    arc("tn-planes-key", key, turns[1], ARCS[1]),
    ray("tn-planes-query", turnedQuery),
    ray("tn-planes-key", turnedKey));
}

/** A sample of an arrow for the legend. */
function sample(kind) {
  const made = arrow(kind);
  made.set([1, 7], [35, 7]);
  return svg("svg", { width: 36, height: 14, viewBox: "0 0 36 14" }, made.node);
}

export default widget(({ model, root, listen, cleanup }) => {
  const picture = () => model.get("picture");
  let chosen = 0;

  const list = el("div", { class: "tn-planes-row", role: "listbox", "aria-label": "planes",
    "aria-orientation": "horizontal" });
  walk(list);
  const plane = statusLine();
  const total = statusLine();
  cleanup(plane.stop);
  cleanup(total.stop);
  const note = el("div", { class: "tn-small-note" });
  const numbers = numbersTable();
  const entry = (kinds, text) =>
    el("span", {}, ...kinds.map(sample), el("span", { text }));
  root.append(
    ...(model.get("controls").length ? [controlsBar(model, listen)] : []),
    el("div", { class: "tn-planes-legend", "aria-hidden": "true" },
      entry(["tn-planes-query"], "query"),
      entry(["tn-planes-key"], "key"),
      entry(["tn-planes-query tn-planes-before", "tn-planes-key tn-planes-before"],
        "before turning"),
      el("span", {},
        svg("svg", { width: 18, height: 14 },
          svg("path", { class: "tn-planes-between", d: "M1 13V1A14 14 0 0 1 15 13Z" })),
        el("span", { text: "angle between them" }))),
    list,
    el("div", { class: "tn-planes-total" }, ...total.nodes),
    ...plane.nodes, note,
    el("div", { class: "tn-small-caption", text: "Point at a plane or use the arrow keys. Angles "
      + "count counterclockwise, whole turns left out." }),
    ...numbers.nodes);

  const choose = (to) => {
    chosen = to;
    select(list, chosen);
    plane.say(picture().planes[chosen].words);
  };
  /** As few rows as there is room for, equally long: of four planes two and two, not three and one. */
  const arrange = () => {
    const count = picture().planes.length;
    const most = clamp(Math.floor(list.clientWidth / LEAST), 1, 4);
    list.style.setProperty("--columns", Math.ceil(count / Math.ceil(count / most)));
  };
  const take = (event) => {
    event.preventDefault(); // or the notebook takes the focus for its cell
    event.currentTarget.focus({ preventScroll: true });
  };
  const answer = () => {
    const { planes, columns, rows, total: sum, note: sentence } = picture();
    chosen = Math.min(chosen, planes.length - 1);
    arrange();
    const held = list.contains(document.activeElement);
    list.replaceChildren(...planes.map((data, i) =>
      el("div", {
        class: "tn-planes-plane", role: "option", tabindex: -1, "aria-label": data.words,
        onfocus: () => choose(i), onpointerenter: () => choose(i), onpointerdown: take,
      },
        el("div", { class: "tn-planes-name", text: `plane ${i}` }),
        circle(data),
        el("div", { class: "tn-planes-share" },
          el("span", { text: "share " }), el("span", { text: data.share })))));
    choose(chosen);
    if (held) list.children[chosen].focus({ preventScroll: true });
    total.say(sum);
    numbers.fill(columns, rows);
    note.textContent = sentence;
  };
  listen("change:picture", answer);
  const resized = new ResizeObserver(arrange);
  resized.observe(list);
  cleanup(() => resized.disconnect());
  answer();
});
