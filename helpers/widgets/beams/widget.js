// A beam search as a tree from left to right. What is kept, left behind or finished differs in
// shape and by a sign; the way to the chosen node is drawn thick.

// Pixels: of a node, from one to the next, of the text in front, and where the first node stands.
const BOX = [138, 28], PITCH = [172, 33], ROOT = 62, FIRST = 96;
const SIGNS = { kept: "", dropped: "✕", finished: "■" };

export default widget(({ model, root, listen, cleanup }) => {
  const state = () => model.get("state");
  let at = state().best;

  const lines = svg("svg", { class: "tn-beams-lines", "aria-hidden": "true" });
  const tree = el("div", { class: "tn-beams-tree", role: "tree", "aria-label": "beginnings" });
  const start = el("div", { class: "tn-beams-root", "aria-hidden": "true", dir: "auto" });
  const stage = el("div", { class: "tn-beams-stage" },
    el("div", { class: "tn-beams-all" }, lines, start, tree));
  const node = statusLine();
  const summary = statusLine();
  cleanup(node.stop);
  cleanup(summary.stop);

  const left = (column) => (column ? FIRST + (column - 1) * PITCH[0] : 0);
  const middle = (row) => row * PITCH[1] + BOX[1] / 2 + 2;
  const children = (parent) =>
    state().nodes.map((_, i) => i).filter((i) => state().nodes[i].parent === parent)
      .sort((a, b) => state().nodes[a].place[1] - state().nodes[b].place[1]);
  const column = () => {
    const { nodes } = state();
    return nodes.map((_, i) => i).filter((i) => nodes[i].place[0] === nodes[at].place[0])
      .sort((a, b) => nodes[a].place[1] - nodes[b].place[1]);
  };

  const point = (to) => {
    at = to;
    const { nodes } = state();
    const way = new Set();
    for (let i = at; i !== null; i = nodes[i].parent) way.add(i);
    [...tree.children].forEach((box, i) => {
      box.tabIndex = i === at ? 0 : -1;
      box.setAttribute("aria-selected", String(i === at));
      box.classList.toggle("tn-beams-way", way.has(i));
    });
    [...lines.children].forEach((line, i) => line.classList.toggle("tn-beams-way", way.has(i)));
    node.say(nodes[at].says);
  };

  const draw = () => {
    const { nodes, root: [text, ...place], best } = state();
    const held = tree.contains(document.activeElement);
    const end = (i) =>
      i === null ? [ROOT, place[1]] : [left(nodes[i].place[0]) + BOX[0], nodes[i].place[1]];
    lines.replaceChildren(...nodes.map(({ parent, place: [col, row] }) => {
      const [x1, from] = end(parent);
      const [x2, y1, y2] = [left(col), middle(from), middle(row)];
      const half = (x1 + x2) / 2;
      return svg("path", { d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}` });
    }));
    const size = [0, 1].map((axis) => Math.max(...nodes.map((one) => one.place[axis])));
    const [width, height] = [left(size[0]) + BOX[0] + 4, middle(size[1]) + BOX[1] / 2 + 4];
    lines.setAttribute("width", width);
    lines.setAttribute("height", height);
    lines.parentNode.style.cssText = `width: ${width}px; height: ${height}px`;
    start.textContent = text;
    start.style.cssText = `width: ${ROOT}px; top: ${middle(place[1]) - BOX[1] / 2}px`;
    tree.replaceChildren(...nodes.map(({ token, log, state: kind, place: [col, row], says }, i) =>
      el("div", {
        class: `tn-beams-node tn-beams-${kind}`, role: "treeitem", tabindex: -1,
        "aria-level": col, "aria-label": says,
        style: `left: ${left(col)}px; top: ${middle(row) - BOX[1] / 2}px; width: ${BOX[0]}px`,
        onfocus: () => point(i), onpointerenter: () => point(i),
        onpointerdown: takeFocus,
      },
        el("span", { class: "tn-beams-token", dir: "auto", text: token, title: token }),
        el("span", { text: `${log}${SIGNS[kind] && ` ${SIGNS[kind]}`}` }))));
    summary.say(state().summary);
    point(held ? Math.min(at, nodes.length - 1) : best);
    if (held) tree.children[at].focus({ preventScroll: true });
    stage.scrollLeft = left(nodes[at].place[0]) + BOX[0] - stage.clientWidth + 8; // in sight
  };

  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") root.closest(".jp-Cell")?.focus();
    const beside = (by) => column()[column().indexOf(at) + by];
    const to = {
      ArrowLeft: () => state().nodes[at].parent, ArrowRight: () => children(at)[0],
      ArrowUp: () => beside(-1), ArrowDown: () => beside(1),
      Home: () => column()[0], End: () => column().at(-1),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    tree.children[to() ?? at].focus();
  });

  const key = (kind, text) =>
    el("span", {},
      el("span", { class: `tn-beams-sample tn-beams-${kind}`, text: SIGNS[kind] || "\u00a0" }),
      el("span", { text }));
  root.append(
    controlsBar(model, listen),
    el("div", { class: "tn-beams-key", "aria-hidden": "true" },
      key("kept", "kept in the beam"), key("dropped", "left behind"), key("finished", "finished"),
      el("span", { text: "numbers: log probabilities" })),
    stage,
    ...node.nodes,
    el("div", { class: "tn-beams-summary" }, ...summary.nodes));
  listen("change:state", draw);
  draw();
});
