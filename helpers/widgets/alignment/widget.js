// Source words above, target words below, and between them links as thick and dark as the weights
// are. A link that is known to be true is dashed, and runs beside the weight's own.

// Pixels: between the rows, how thick a weight of one is, how far a dashed link runs to the right.
const GAP = 130, THICK = 9, BESIDE = 8;
const LEAST = 0.01; // weights below it are not drawn, as in widget.py

export default widget(({ model, root, listen, cleanup }) => {
  const ROWS = ["source", "target"];
  const state = () => model.get("state");
  let at = [1, 0]; // a row and a word of it, which has the keys
  let shown = null; // the word that is pointed at, or else has the focus; without one all show

  const runs = ROWS.map((row) => el("div", {
    class: `tn-align-row tn-align-${row}`, role: "row", "aria-label": `${row} words`,
  }));
  const links = svg("svg", { class: "tn-align-links", "aria-hidden": "true", height: GAP });
  const grid = el("div", {
    class: "tn-align-grid", role: "grid", "aria-label": "source words, and target words below",
  }, runs[0], links, runs[1]);
  const stage = el("div", { class: "tn-align-stage" }, grid);
  const { nodes, say, stop } = statusLine();
  cleanup(stop);
  const key = el("div", { class: "tn-align-key", "aria-hidden": "true" });
  const note = el("div", { class: "tn-align-note" });
  root.append(controlsBar(model, listen), key, stage, ...nodes, note);

  const cells = (row) => [...runs[row].querySelectorAll("[role=gridcell]")];
  const words = (row) => state()[ROWS[row]];

  const point = (to) => {
    shown = to;
    ROWS.forEach((_, row) => cells(row).forEach((cell, i) => {
      const on = shown !== null && row === shown[0] && i === shown[1];
      cell.tabIndex = row === at[0] && i === at[1] ? 0 : -1;
      cell.classList.toggle("tn-on", on);
      cell.lastChild.textContent = "";
    }));
    links.classList.toggle("tn-align-some", shown !== null);
    for (const path of links.children) path.classList.remove("tn-align-way");
    if (!shown) return say(state().summary);
    const [row, word] = shown;
    for (const link of state().links) {
      if (link[row] !== word) continue;
      cells(1 - row)[link[1 - row]].lastChild.textContent = link[3];
    }
    for (const path of links.children)
      path.classList.toggle("tn-align-way", Number(path.dataset[ROWS[row]]) === word);
    say(state().says[ROWS[row]][word]);
  };
  /** What is shown when nothing is pointed at: the word that has the focus, else all. */
  const rest = () => point(grid.contains(document.activeElement) ? at : null);

  const cell = (text, row, i) => {
    const wrong = row === 1 && state().wrong.includes(i);
    return el("div", {
      class: wrong ? "tn-align-word tn-align-wrong" : "tn-align-word", role: "gridcell",
      tabindex: -1, "aria-label": wrong ? `${text}, a wrong word` : text,
      onfocus: () => point((at = [row, i])), onblur: () => point(null),
      onpointerenter: () => point([row, i]), onpointerdown: takeFocus,
    },
      el("span", { dir: "auto", text }),
      el("small", {}));
  };

  /** The links, from the middle of one word to that of the other. */
  const connect = () => {
    if (!grid.clientWidth) return; // on no page yet, or hidden
    const middles = ROWS.map((_, row) =>
      cells(row).map((word) => word.offsetLeft + word.offsetWidth / 2));
    const path = (s, t, right, attributes) => {
      const [x1, x2] = [middles[0][s] + right, middles[1][t] + right];
      return svg("path", {
        d: `M${x1} 0C${x1} ${GAP / 2} ${x2} ${GAP / 2} ${x2} ${GAP}`,
        "data-source": s, "data-target": t, ...attributes,
      });
    };
    links.replaceChildren(...state().links.flatMap(([s, t, weight, , known]) => [
      weight < LEAST ? null : path(s, t, 0, {
        class: "tn-align-weight", "stroke-width": 1 + (THICK - 1) * weight, style: `--dark: ${weight}`,
      }),
      known ? path(s, t, BESIDE, { class: "tn-align-known" }) : null,
    ]).filter(Boolean));
    point(shown);
  };

  const sample = (kind, text) =>
    el("span", {},
      svg("svg", { width: 30, height: 12, viewBox: "0 0 30 12" },
        ...(kind === "known" ? [[0, 30, 2]] : [[0, 15, 2, 0.2], [15, 30, THICK, 1]])
          .map(([from, to, thick, dark]) => svg("path", {
            class: `tn-align-${kind}`, d: `M${from} 6H${to}`, "stroke-width": thick,
            style: `--dark: ${dark}`,
          }))),
      el("span", { text }));

  const draw = () => {
    const held = grid.contains(document.activeElement);
    const { wrong, pairs } = state();
    ROWS.forEach((row, i) => runs[i].replaceChildren(
      el("div", { class: "tn-align-head", role: "rowheader" },
        row, words(i).length ? null : ": no words"),
      el("div", { class: "tn-align-words", role: "presentation" },
        ...words(i).map((text, word) => cell(text, i, word)))));
    key.replaceChildren(
      sample("weight", "weight"),
      ...(pairs ? [sample("known", "the true link")] : []),
      ...(wrong.length
        ? [el("span", {}, el("span", { class: "tn-align-sample" }), el("span", { text: "a wrong word" }))]
        : []));
    note.textContent = [
      "Point at a word or use the arrow keys: its links show alone, with their weights.",
      state().note,
    ].filter(Boolean).join(" ");
    const row = words(at[0]).length ? at[0] : 1 - at[0];
    at = [row, clamp(at[1], 0, Math.max(words(row).length - 1, 0))];
    shown = null;
    connect();
    point(null);
    if (held) cells(row)[at[1]]?.focus({ preventScroll: true });
  };

  grid.addEventListener("pointerleave", rest);
  /** The word of the other row to which this one is linked most, or else at the same height. */
  const beside = ([row, word]) => {
    const ours = state().links.filter((link) => link[row] === word);
    const best = ours.reduce((a, b) => (a && a[2] >= b[2] ? a : b), null);
    const same = Math.floor((word / words(row).length) * words(1 - row).length);
    return [1 - row, best ? best[1 - row] : same];
  };
  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") root.closest(".jp-Cell")?.focus();
    const [row, word] = at;
    const last = words(row).length - 1;
    const turn = (to) => (to !== row && words(to).length ? beside(at) : at);
    const to = {
      ArrowLeft: () => [row, Math.max(word - 1, 0)],
      ArrowRight: () => [row, Math.min(word + 1, last)],
      ArrowUp: () => turn(0), ArrowDown: () => turn(1),
      Home: () => [row, 0], End: () => [row, last],
    }[event.key]?.();
    if (!to) return;
    event.preventDefault();
    cells(to[0])[to[1]].focus();
  });

  const resized = new ResizeObserver(connect);
  resized.observe(grid);
  cleanup(() => resized.disconnect());
  listen("change:state", draw);
  draw();
});
