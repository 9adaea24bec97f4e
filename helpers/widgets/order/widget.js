// The words of a sentence as tiles to be moved about, each with the output that its token has. A
// token goes by its place in the original order, wherever it stands.

const FULL = 28; // pixels of the longest bar
const PITCH = 11; // from bar to bar

/** Signed bars: the output now; across each a mark: what it was in the original order. */
function strip({ bars, marks }) {
  const width = bars.length * PITCH;
  const height = (x) => FULL + 2 - FULL * x;
  return svg("svg", {
    class: "tn-order-strip", viewBox: `0 0 ${width} ${2 * FULL + 4}`, width, "aria-hidden": "true",
  },
    ...bars.map((x, i) => svg("rect", {
      class: x < 0 ? "tn-order-negative" : null, x: i * PITCH + 2, width: PITCH - 4,
      y: height(Math.max(x, 0)), height: FULL * Math.abs(x),
    })),
    svg("path", { class: "tn-order-zero", d: `M0 ${height(0)}h${width}` }),
    ...marks.map((x, i) =>
      svg("path", { class: "tn-order-mark", d: `M${i * PITCH + 0.5} ${height(x)}h${PITCH - 1}` })));
}

/** Shuffled orders, the same ones every time; never the order given. */
function shuffler() {
  let seed = 12;
  const below = (limit) => {
    seed = (seed * 1664525 + 1013904223) % 2 ** 32;
    return Math.floor((seed / 2 ** 32) * limit);
  };
  return (order) => {
    const shuffled = [...order];
    while (shuffled.join() === order.join())
      for (let i = shuffled.length - 1; i > 0; i -= 1) {
        const j = below(i + 1);
        [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
      }
    return shuffled;
  };
}

export default widget(({ model, root, listen, cleanup }) => {
  const state = () => model.get("state");
  const MEAN = state().order.length; // the last tile goes by the number after the last token's
  let chosen = 0; // a token, or the mean
  let held = null; // while a tile is dragged: where it was taken, and where the pointer is

  const list = el("div", {
    class: "tn-order-tiles", role: "listbox", "aria-label": "words and their outputs",
    "aria-orientation": "horizontal",
  });
  const word = statusLine();
  const summary = statusLine();
  const note = el("div", { class: "tn-order-note" });
  cleanup(word.stop);
  cleanup(summary.stop);

  const asked = () => model.get("values").order; // newer than the one shown, while Python computes
  const put = (order) => {
    if (order.join() !== asked().join()) ask(model, { order });
  };
  const move = (token, to) => {
    const order = asked().filter((other) => other !== token);
    order.splice(Math.max(to, 0), 0, token); // beyond the end is at the end
    put(order);
  };

  const choose = (token) => {
    chosen = token;
    for (const tile of list.children) {
      const here = Number(tile.dataset.token) === chosen;
      tile.setAttribute("aria-selected", String(here));
      tile.tabIndex = here ? 0 : -1;
    }
    const { order, tiles, mean } = state();
    const at = order.indexOf(chosen);
    word.say(at < 0
      ? `${mean.text} outputs: ${mean.moved}`
      : `“${tiles[at].text}”, position ${at}, was ${chosen}: output ${tiles[at].moved}`);
  };

  const tileOf = (data, token) =>
    el("div", {
      class: `tn-order-tile ${token === MEAN ? "tn-order-mean" : ""}`, role: "option",
      tabindex: "-1", "aria-label": `${data.text}, ${data.moved}`, "data-token": token,
      onfocus: () => choose(token),
    },
      el("div", { class: "tn-order-word" }, el("span", { text: data.text }),
        token === MEAN ? null : el("sub", { text: String(token) })),
      strip(data),
      el("div", {
        class: data.same ? "tn-order-moved tn-order-same" : "tn-order-moved",
        text: data.same ? `${data.moved} ✓` : data.moved,
      }));

  /** Tokens and where their tiles are on the screen. */
  const places = () => new Map([...list.children].map((tile) =>
    [tile.dataset.token, tile.getBoundingClientRect()]));

  /** The dragged tile stays under the pointer, wherever its place among the others is. */
  const carry = () => {
    const tile = [...list.children].find(({ dataset }) => Number(dataset.token) === held.token);
    const corner = list.getBoundingClientRect();
    const [x, y] = [held.x - corner.x - held.dx, held.y - corner.y - held.dy];
    tile.classList.add("tn-order-held");
    tile.style.translate = `${x - tile.offsetLeft}px ${y - tile.offsetTop}px`;
  };

  const draw = () => {
    const { order, tiles, mean } = state();
    const focused = list.contains(document.activeElement);
    const before = places();
    list.replaceChildren(...tiles.map((data, i) => tileOf(data, order[i])), tileOf(mean, MEAN));
    choose(chosen);
    if (focused) list.querySelector("[tabindex='0']").focus({ preventScroll: true });
    summary.say(state().summary);
    note.textContent = state().note;
    if (held) carry();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    // Tiles glide to their new places, so that the eye can follow the outputs.
    const after = places();
    for (const tile of list.children) {
      const [from, to] = [before, after].map((where) => where.get(tile.dataset.token));
      if (!from || Number(tile.dataset.token) === held?.token) continue;
      const [dx, dy] = [from.x - to.x, from.y - to.y];
      if (dx || dy)
        tile.animate({ translate: [`${dx}px ${dy}px`, "0 0"] },
          { duration: 250, easing: "ease-out" });
    }
  };

  list.addEventListener("pointerdown", (event) => {
    if (held) return; // a second finger
    const tile = event.target.closest(".tn-order-tile");
    if (!tile || event.button !== 0) return;
    event.preventDefault(); // or the notebook takes the focus for its cell
    tile.focus({ preventScroll: true });
    if (chosen === MEAN) return;
    list.setPointerCapture(event.pointerId);
    const corner = tile.getBoundingClientRect();
    const [x, y] = [event.clientX, event.clientY];
    held = { pointer: event.pointerId, token: chosen, x, y, dx: x - corner.x, dy: y - corner.y };
  });
  list.addEventListener("pointermove", (event) => {
    if (event.pointerId !== held?.pointer) return;
    Object.assign(held, { x: event.clientX, y: event.clientY });
    const corner = list.getBoundingClientRect();
    const [x, y] = [held.x - corner.x, held.y - corner.y];
    // All places are equally large, so the one under the pointer stays while tiles change places.
    const to = [...list.children].findIndex((place) =>
      x >= place.offsetLeft && x < place.offsetLeft + place.offsetWidth &&
      y >= place.offsetTop && y < place.offsetTop + place.offsetHeight);
    if (to >= 0) move(held.token, to);
    carry();
  });
  list.addEventListener("lostpointercapture", (event) => {
    if (event.pointerId !== held?.pointer) return;
    held = null;
    draw();
  });

  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") list.closest(".jp-Cell")?.focus();
    const by = { "[": -1, "]": 1, ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
    const step = by[event.key];
    const at = [...list.children].findIndex((tile) => tile.tabIndex === 0);
    if (step && (event.shiftKey || !event.key.startsWith("Arrow"))) {
      event.preventDefault();
      if (chosen !== MEAN) move(chosen, asked().indexOf(chosen) + step);
      return;
    }
    const to = step ? at + step : { Home: 0, End: MEAN }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    list.children[clamp(to, 0, MEAN)].focus();
  });

  const shuffled = shuffler();
  const button = (text, order) =>
    el("button", { type: "button", text, onclick: () => put(order()) });
  root.append(
    ...(model.get("controls").length ? [controlsBar(model, listen)] : []),
    el("div", {
      class: "tn-controls tn-order-buttons", role: "group", "aria-label": "order of the words",
    },
      button("Shuffle", () => shuffled(asked())),
      button("Reverse", () => [...asked()].reverse()),
      button("Reset", () => asked().map((_, i) => i))),
    el("div", { class: "tn-order-key", "aria-hidden": "true" },
      el("span", { class: "tn-order-now", text: "output now" }),
      el("span", { class: "tn-order-then", text: "its output in the original order" })),
    list, ...word.nodes,
    el("div", { class: "tn-order-summary" }, ...summary.nodes),
    note,
    el("div", { class: "tn-order-note", text:
      "Drag a word, or choose one with the arrow keys and move it with [ and ]. The small number "
      + "is its position in the original order; positions count from 0." }),
  );
  listen("change:state", draw);
  draw();
});
