// One text as tokens, in several ways: a row of boxes each. A token that is chosen shows what
// stands for the same letters, or at the same place, in the other rows.

const SAME = { letters: "for the same letters", place: "at the same place" };

export default widget(({ model, root, listen, cleanup }) => {
  const rows = () => model.get("state").rows;
  let chosen = [0, 0]; // a row, and a token of it

  const grid = el("div", { class: "tn-tokens", role: "grid", "aria-label": "the text as tokens" });
  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const note = el("div", { class: "tn-tokens-note" });
  root.append(controlsBar(model, listen), grid, ...nodes, note);

  const words = ([text, , kind]) => (kind ? `${text} (${kind})` : text);
  const boxes = (row) => [...grid.children[row].lastChild.children];
  const meet = (a, b) => a && b && a[0] < b[1] && b[0] < a[1];

  const point = ([row, at]) => {
    for (const box of grid.querySelectorAll("[tabindex='0']")) box.tabIndex = -1;
    for (const box of grid.querySelectorAll(".tn-on, .tn-tokens-linked"))
      box.classList.remove("tn-on", "tn-tokens-linked");
    chosen = [row, at];
    const box = boxes(row)[at];
    if (!box) return say("There are no tokens.");
    box.tabIndex = 0;
    box.classList.add("tn-on");
    const { name, size, tokens } = rows()[row];
    const parts = [`${name}, token ${at + 1} of ${size.split(" ")[0]}: ${words(tokens[at])}`];
    rows().forEach((other, i) => {
      const linked = other.tokens.filter((token, j) => {
        const meets = i !== row && meet(token[3], tokens[at][3]);
        if (meets) boxes(i)[j].classList.add("tn-tokens-linked");
        return meets;
      });
      if (linked.length) parts.push(`${other.name}: ${linked.map(words).join(" | ")}`);
    });
    say(parts.join("; "));
  };

  const cell = (token, row, at) =>
    tokenBox(token[0], token[1], {
      role: "gridcell", tabindex: -1, "aria-label": words(token),
      onfocus: () => point([row, at]), onpointerenter: () => point([row, at]),
      onpointerdown: takeFocus,
    }, rows()[row].kinds ? token[2] : null);
  const line = (data, row) =>
    el("div", { class: "tn-tokens-row", role: "row" },
      el("div", { class: "tn-tokens-head", role: "rowheader" },
        el("b", { text: data.name }),
        el("div", { class: "tn-tokens-bar", style: `width: ${100 * data.share}%` }),
        el("span", { text: data.size }),
        data.note && el("span", { text: data.note })),
      el("div", { class: "tn-token-run", role: "presentation" },
        ...data.tokens.map((token, at) => cell(token, row, at))));

  let drawn = []; // what each row shows, so that one that did not change stays as it is
  const draw = () => {
    const held = grid.contains(document.activeElement);
    const wanted = rows().map((row) => JSON.stringify(row));
    while (grid.children.length > wanted.length) grid.lastChild.remove();
    wanted.forEach((row, i) => {
      if (row === drawn[i]) return;
      const node = line(rows()[i], i);
      if (grid.children[i]) grid.children[i].replaceWith(node);
      else grid.append(node);
    });
    drawn = wanted;
    note.textContent = [
      "Point at a token or use the arrow keys.",
      rows().length > 1 ? `What stands ${SAME[model.get("state").by]} is framed.` : "",
      rows().every(({ kinds }) => kinds) ? "" : "Equal tokens have equal colors; ␣ is a blank.",
      rows().some(({ kinds }) => kinds) ? "Below a token stands its kind." : "",
    ].filter(Boolean).join(" ");
    const filled = rows().findIndex(({ tokens }) => tokens.length);
    const row = rows()[chosen[0]]?.tokens.length ? chosen[0] : Math.max(filled, 0);
    point([row, clamp(chosen[1], 0, Math.max(boxes(row).length - 1, 0))]);
    if (held) boxes(row)[chosen[1]]?.focus({ preventScroll: true });
  };

  /** The token of another row that stands for the same, or else at the same height. */
  const beside = (row) => {
    const { tokens } = rows()[chosen[0]];
    const others = rows()[row].tokens;
    const same = others.findIndex((token) => meet(token[3], tokens[chosen[1]][3]));
    return same < 0 ? Math.floor((chosen[1] / tokens.length) * others.length) : same;
  };
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") root.closest(".jp-Cell")?.focus();
    const [row, at] = chosen;
    const last = rows()[row].tokens.length - 1;
    const turn = (to) => (rows()[to]?.tokens.length ? [to, beside(to)] : chosen);
    const to = {
      ArrowLeft: () => [row, Math.max(at - 1, 0)], ArrowRight: () => [row, Math.min(at + 1, last)],
      ArrowUp: () => turn(row - 1), ArrowDown: () => turn(row + 1),
      Home: () => [row, 0], End: () => [row, last],
    }[event.key]?.();
    if (!to) return;
    event.preventDefault();
    boxes(to[0])[to[1]].focus();
  });

  listen("change:state", draw);
  draw();
});
