// Left a triangle of weights, right the plane of values: the output follows the handle.

const NAMES = ["v₁", "v₂", "v₃"];
const CORNERS = [[48, 210], [150, 34], [252, 210]];

/** Weights as they may be: none negative, in hundredths that sum to one exactly. */
function onSimplex(weights) {
  const positive = weights.map((w) => Math.max(w, 0));
  const total = positive.reduce((sum, w) => sum + w, 0);
  const hundredths = positive.map((w) => Math.round((w / total) * 100));
  // The largest takes what rounding left over, so no other turns negative.
  const largest = hundredths.indexOf(Math.max(...hundredths));
  hundredths[largest] += 100 - hundredths.reduce((sum, h) => sum + h, 0);
  return hundredths.map((h) => h / 100);
}

/** Each value has its own shape, so that triangle and plane can be matched without color. */
function mark(index, [x, y]) {
  const shape = [
    svg("circle", { cx: x, cy: y, r: 5.5 }),
    svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10 }),
    svg("path", { d: `M${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}L${x - 7} ${y}Z` }),
  ][index];
  shape.setAttribute("class", "tn-route-mark");
  return shape;
}

const between = (weights, places) =>
  [0, 1].map((axis) => places.reduce((sum, p, i) => sum + weights[i] * p[axis], 0));

export default widget(({ model, root, listen, cleanup }) => {
  const points = model.get("points");
  const weightsNow = () => model.get("values").weights;
  const move = (weights) => ask(model, { weights: onSimplex(weights) });

  // The triangle.
  const knob = handle("weights of the three values", "point in a triangle", 0, 1);
  const triangle = svg("svg", {
    viewBox: "0 0 300 246", role: "group", "aria-label": "triangle of weights",
  }, svg("path", { class: "tn-route-hull", d: `M${CORNERS.join("L")}Z` }));
  for (const share of [0.2, 0.4, 0.6, 0.8])
    for (const i of [0, 1, 2]) {
      const ends = [(i + 1) % 3, (i + 2) % 3].map((other) => {
        const weights = [0, 0, 0];
        weights[i] = share;
        weights[other] = 1 - share;
        return between(weights, CORNERS);
      });
      triangle.append(svg("path", { class: "tn-route-ruling", d: `M${ends.join("L")}` }));
    }
  const shares = CORNERS.map(([x, y], i) => {
    triangle.append(mark(i, [x, y]));
    const share = svg("tspan", { class: "tn-route-share" });
    const text = svg("text", { x, y: i === 1 ? y - 15 : y + 26, "text-anchor": "middle" },
      svg("tspan", { text: `only ${NAMES[i]}  ` }), share);
    triangle.append(text);
    return share;
  });
  triangle.append(knob);
  const [c1, c2, c3] = CORNERS;
  const fromPlace = ([x, y]) => {
    const second = (c1[1] - y) / (c1[1] - c2[1]);
    const third = (x - c1[0] - second * (c2[0] - c1[0])) / (c3[0] - c1[0]);
    return [1 - second - third, second, third];
  };
  movable(triangle, knob, {
    onPlace: (place) => move(fromPlace(place)),
    onStep: (dx, dy) => {
      const [w1, w2, w3] = weightsNow();
      move([w1 - (dx + dy) / 100, w2 + (2 * dy) / 100, w3 + (dx - dy) / 100]);
    },
  });

  // The plane.
  const ranges = [0, 1].map((axis) => {
    const along = [0, ...points.map((p) => p[axis])];
    return [Math.min(...along), Math.max(...along)];
  });
  const margin = 0.13 * Math.max(...ranges.map(([from, to]) => to - from), 0.1);
  const drawing = plane(
    ranges.map(([from]) => from - margin), ranges.map(([, to]) => to + margin), 300,
    "plane of the values",
  );
  const at = ([a, b]) => [drawing.x(a), drawing.y(b)];
  const zero = at([0, 0]);
  const places = points.map(at);
  const middle = between([1 / 3, 1 / 3, 1 / 3], places);
  drawing.inside.append(svg("path", { class: "tn-route-hull", d: `M${places.join("L")}Z` }));
  places.forEach((place) => {
    const value = arrow("tn-route-value");
    const length = Math.hypot(place[0] - zero[0], place[1] - zero[1]) || 1;
    // The head ends in front of the mark, not under it.
    value.set(zero, between([1 - 8 / length, 8 / length], [place, zero]));
    drawing.inside.append(value.node);
  });
  const chain = svg("path", { class: "tn-route-chain" });
  const output = arrow("tn-route-output");
  const outputName = label(0, 0, "output", {
    class: "tn-small-label tn-route-share", "text-anchor": "middle",
  });
  drawing.inside.append(chain, output.node);
  places.forEach((place, i) => {
    const away = Math.hypot(place[0] - middle[0], place[1] - middle[1]) || 1;
    const [dx, dy] = [0, 1].map((axis) => (16 * (place[axis] - middle[axis])) / away);
    drawing.node.append(mark(i, place),
      label(place[0] + dx, place[1] + dy + 4, NAMES[i], { "text-anchor": "middle" }));
  });
  drawing.inside.append(outputName);

  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const buttons = model.get("presets").map(([name, weights]) =>
    el("button", { type: "button", text: name, onclick: () => ask(model, { weights }) }));

  const follow = () => {
    const weights = weightsNow();
    knob.setAttribute("transform", `translate(${between(weights, CORNERS)})`);
    const words = weights.map((w, i) => `${NAMES[i]} ${two(w)}`);
    knob.setAttribute("aria-valuenow", weights[1]);
    knob.setAttribute("aria-valuetext", words.join(", "));
    shares.forEach((share, i) => (share.textContent = two(weights[i])));
    model.get("presets").forEach(([, preset], i) =>
      buttons[i].setAttribute("aria-pressed", String(preset.every((w, j) => w === weights[j]))));
  };
  const answer = () => {
    const { weights, output: result } = model.get("state");
    const partial = [0, 1, 2].map((n) =>
      at(between(weights.map((w, i) => (i <= n ? w : 0)), points)));
    chain.setAttribute("d", `M${[zero, ...partial].join("L")}`);
    const place = at(result);
    output.set(zero, place);
    outputName.setAttribute("x", place[0]);
    outputName.setAttribute("y", place[1] + (result[1] < 0 ? 18 : -9));
    const sum = weights.map((w, i) => `${two(w)}·${NAMES[i]}`).join(" + ");
    say(`output = ${sum} = ${inBrackets(result.map(two))}`);
  };
  listen("change:values", follow);
  listen("change:state", answer);

  const starts = { class: "tn-controls", role: "group", "aria-label": "weights to start from" };
  root.append(
    el("div", starts, ...buttons),
    el("div", { class: "tn-small-pictures tn-route-pair" },
      picture("the weights: drag the point", triangle),
      picture("the values and their output", drawing.node)),
    el("div", { class: "tn-small-sentence" }, ...nodes),
  );
  follow();
  answer();
});
