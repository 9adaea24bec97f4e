// Keys in the plane and a query to drag; disks and bars show how much each key answers.

const DISK = 34; // radius of the disk for a weight of one; area goes with weight

export default widget(({ model, root, listen, cleanup }) => {
  const entries = model.get("entries");
  const reach = model.get("reach");
  const winners = model.get("winners");
  const words = (entry) => `${entry.name} → ${inBrackets(entry.value.map(short))}`;

  const drawing = plane([-reach, -reach], [reach, reach], 400, "plane of keys and query");
  const { x, y, inside } = drawing;
  const zero = [x(0), y(0)];

  // Where which key wins: dashed borders, and the query's own winner shaded.
  const sector = (from, to) => {
    const corners = [];
    for (let step = from; step <= to; step += 1) {
      const angle = (2 * Math.PI * (step - 0.5)) / winners.length;
      corners.push([x(2 * reach * Math.cos(angle)), y(2 * reach * Math.sin(angle))]);
    }
    return corners;
  };
  const starts = winners.flatMap((w, i) => (w === winners.at(i - 1) ? [] : [i]));
  const sectors = starts.map((from, i) => {
    const to = i + 1 < starts.length ? starts[i + 1] : starts[0] + winners.length;
    const corners = sector(from, to);
    const shape = svg("path", { class: "tn-dict-sector", d: `M${zero}L${corners.join("L")}Z` });
    inside.append(shape, svg("path", { class: "tn-dict-border", d: `M${zero}L${corners[0]}` }));
    return { winner: winners[from], shape };
  });

  const feet = entries.map(() => svg("path", { class: "tn-dict-foot" }));
  const disks = entries.map(({ key }) =>
    svg("circle", { class: "tn-dict-disk", cx: x(key[0]), cy: y(key[1]) }));
  const dots = entries.map(({ key }) =>
    svg("circle", { class: "tn-dict-dot", cx: x(key[0]), cy: y(key[1]), r: 3.5 }));
  const ray = svg("path", { class: "tn-dict-ray" });
  const query = arrow("tn-dict-query");
  inside.append(ray, ...feet, ...disks, ...dots, query.node);
  const labels = entries.map((entry) => {
    const text = words(entry);
    // A guess at the text's width keeps labels near the edge inside the drawing.
    const half = Math.min(3.6 * text.length, drawing.width / 2 - 4);
    const left = clamp(x(entry.key[0]), half + 4, drawing.width - half - 4);
    const node = label(left, 0, text, { "text-anchor": "middle" });
    drawing.node.append(node);
    return node;
  });
  const knob = handle("query", "point in the plane", -reach, reach);
  drawing.node.append(knob);

  const queryNow = () => model.get("values").query;
  const move = (place) =>
    ask(model, {
      query: place.map((v) => Math.round(clamp(v, -reach, reach) * 100) / 100),
    });
  movable(drawing.node, knob, {
    onPlace: (place) => move(drawing.toPlane(place)),
    onStep: (dx, dy) => {
      const [a, b] = queryNow();
      move([a + (dx * reach) / 50, b + (dy * reach) / 50]);
    },
  });

  const scores = entries.map(() => el("td", { class: "tn-dict-number" }));
  const bars = entries.map(() => el("div", { class: "tn-dict-bar" }));
  const shares = entries.map(() => el("td", { class: "tn-dict-number" }));
  const rows = entries.map((entry, i) =>
    el("tr", {},
      el("th", { scope: "row", text: words(entry) }), scores[i], shares[i],
      el("td", { class: "tn-dict-bars", "aria-hidden": "true" }, bars[i])));
  const list = el("table", { class: "tn-dict-answers" },
    el("thead", {}, el("tr", {},
      el("th", { scope: "col", text: "key → value" }),
      el("th", { scope: "col", class: "tn-dict-number", text: "query · key" }),
      el("th", { scope: "col", class: "tn-dict-number", text: "weight" }),
      el("td", { class: "tn-dict-bars", "aria-hidden": "true" }))),
    el("tbody", {}, ...rows));

  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const follow = () => {
    const [a, b] = queryNow();
    const tip = [x(a), y(b)];
    query.set(zero, tip);
    knob.setAttribute("transform", `translate(${tip})`);
    knob.setAttribute("aria-valuenow", a);
    const length = Math.hypot(a, b);
    const turn = Math.round((Math.atan2(b, a) / (2 * Math.PI)) * winners.length);
    const winner = length && winners.length ? winners.at(turn) : null;
    const wins = winner === null ? "" : `, ${entries[winner].name} wins`;
    knob.setAttribute("aria-valuetext", `${inBrackets([a, b].map(short))}${wins}`);
    for (const { winner: w, shape } of sectors) shape.classList.toggle("tn-dict-won", w === winner);
    entries.forEach(({ key }, i) => {
      const score = key[0] * a + key[1] * b;
      scores[i].textContent = two(score);
      const along = length ? score / length ** 2 : 0;
      const foot = [x(along * a), y(along * b)];
      feet[i].setAttribute("d", `M${x(key[0])} ${y(key[1])}L${foot}`);
    });
    const far = length ? (2 * reach) / length : 0;
    const ends = [-far, far].map((by) => [x(by * a), y(by * b)]);
    ray.setAttribute("d", `M${ends.join("L")}`);
  };
  const answer = () => {
    const { weights, output } = model.get("state");
    const [least, most] = [Math.min(...weights), Math.max(...weights)];
    weights.forEach((w, i) => {
      const radius = DISK * Math.sqrt(Math.max(w, 0));
      disks[i].setAttribute("r", radius);
      const away = Math.max(radius, 4) + 6;
      const below = entries[i].key[1] < 0;
      labels[i].setAttribute("y", y(entries[i].key[1]) + (below ? away + 9 : -away));
      bars[i].style.width = `${clamp(w, 0, 1) * 100}%`;
      shares[i].textContent = two(w);
      rows[i].classList.toggle("tn-dict-most", most - least > 1e-9 && w === most);
    });
    const sum = weights.map((w, i) => `${two(w)}\u00a0×\u00a0${entries[i].name}`).join(" + ");
    say(`${sum} = ${inBrackets(output.map(two))}`);
  };
  listen("change:values", follow);
  listen("change:state", answer);

  const caption = `drag the query${sectors.length ? "; shaded: where the same key wins" : ""}`;
  root.append(
    controlsBar(model, listen),
    el("div", { class: "tn-small-pictures" },
      picture(caption, drawing.node),
      el("div", {}, list, el("div", { class: "tn-small-sentence" }, ...nodes))),
  );
  follow();
  answer();
});
