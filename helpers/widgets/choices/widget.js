// The words that may come next, as bars: what the model expects, what is true, and what is left to
// draw from. One that is taken is added to the text.

export default widget(({ model, root, listen, cleanup }) => {
  const state = () => model.get("state");
  const typed = () => model.get("values").words; // newer than shown, while Python computes
  let at = 0; // the candidate that has the keys

  const text = el("div", { class: "tn-choices-text", "aria-hidden": "true", dir: "auto" });
  const key = el("div", { class: "tn-bars-key", "aria-hidden": "true" });
  const list = el("div", {
    class: "tn-choices-list", role: "listbox", "aria-label": "words that may come next",
  });
  walk(list);
  const word = statusLine();
  const summary = statusLine();
  cleanup(word.stop);
  cleanup(summary.stop);

  const add = (i) =>
    ask(model, { words: `${typed().trimEnd()} ${state().candidates[i].adds}`.trimStart() });
  /** One of the candidates, each as often as its share of what is left. */
  const draw = () => {
    const shares = state().candidates.map(({ share }) => share);
    let rest = Math.random() * shares.reduce((sum, share) => sum + share, 0);
    const drawn = shares.findIndex((share) => (rest -= share) < 0);
    if (drawn >= 0) add(drawn);
  };
  const button = (name, onclick) => el("button", { type: "button", text: name, onclick });
  const back = () => ask(model, { words: typed().trimEnd().replace(/\s*\S+$/u, "") });

  const point = (to) => {
    at = to;
    select(list, at);
    const { word: name, model: [, share], truth, chosen } = state().candidates[at];
    word.say(`“${name}”: model ${share}${truth ? `, true ${truth[1]}` : ""}, `
      + `${chosen[0] ? `chosen ${chosen[1]}` : "cut off"}; click or Enter adds it`);
  };

  const show = () => {
    const held = list.contains(document.activeElement);
    const { beginning, candidates, full } = state();
    if (text.textContent !== beginning) at = 0; // another word to come
    text.textContent = beginning;
    list.replaceChildren(...candidates.map(({ word: name, model: share, truth, chosen }, i) =>
      barRow(name, [
        ["model", ...share], ...(truth ? [["truth", ...truth]] : []), ["chosen", ...chosen],
      ], {
        class: chosen[0] ? "" : "tn-choices-cut", role: "option", tabindex: -1,
        "aria-label": `${name}: model ${share[1]}${truth ? `, true ${truth[1]}` : ""}, `
          + `${chosen[0] ? "chosen " : ""}${chosen[1]}`,
        onfocus: () => point(i), onpointerenter: () => point(i), onclick: () => add(i),
        onpointerdown: takeFocus,
        onkeydown: (event) => {
          if (!["Enter", " "].includes(event.key) || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          add(i);
        },
      })));
    key.replaceChildren(...barKey([
      ["model", "the model's probability"],
      ...(candidates.some(({ truth }) => truth) ? [["truth", "the true one"]] : []),
      ["chosen", "what it is drawn with"],
    ], full));
    summary.say(state().summary);
    point(Math.min(at, candidates.length - 1));
    if (held) list.children[at].focus({ preventScroll: true });
  };

  root.append(
    controlsBar(model, listen),
    el("div", { class: "tn-choices-line" }, text,
      el("div", { class: "tn-choices-buttons", role: "group", "aria-label": "the next word" },
        button("Draw a word", draw), button("Take back", back))),
    key, list, ...word.nodes,
    el("div", { class: "tn-choices-summary" }, ...summary.nodes));
  listen("change:state", show);
  show();
});
