// A sentence whose words carry bars: up what speaks for praise, down what speaks for blame.

export default widget(({ model, root, listen, cleanup }) => {
  const words = () => model.get("state").words;
  let chosen = null; // the number of a word, once somebody chose one

  const list = el("div", { class: "tn-scores-words", role: "listbox",
    "aria-label": "words of the sentence", "aria-orientation": "horizontal" });
  const word = statusLine();
  const summary = statusLine();
  const note = el("div", { class: "tn-scores-note" });
  cleanup(word.stop);
  cleanup(summary.stop);
  root.append(
    controlsBar(model, listen),
    el("div", { class: "tn-scores-key", "aria-hidden": "true" },
      el("span", { class: "tn-scores-up", text: "▲ praise" }),
      el("span", { class: "tn-scores-down", text: "▼ blame" })),
    list, ...word.nodes,
    el("div", { class: "tn-scores-summary" }, ...summary.nodes), note);

  const strongest = () => {
    const sizes = words().map(({ bar }) => Math.abs(bar));
    return sizes.indexOf(Math.max(...sizes));
  };
  const point = () => {
    const at = Math.min(chosen ?? strongest(), words().length - 1);
    [...list.children].forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === at));
      option.tabIndex = i === at ? 0 : -1;
    });
    const { text, score } = words()[at];
    word.say(`word ${at + 1} of ${words().length}, “${text}”, adds ${score}`);
  };
  const choose = (to) => {
    chosen = clamp(to, 0, words().length - 1);
    point();
  };

  const answer = () => {
    const kept = list.contains(document.activeElement);
    if (!kept) chosen = null;
    list.replaceChildren(...words().map(({ text, bar, score }, i) =>
      el("div", {
        class: `tn-scores-word ${bar > 0 ? "tn-scores-up" : bar < 0 ? "tn-scores-down" : ""}`,
        role: "option", tabindex: -1, "aria-label": `${text} ${score}`,
        onfocus: () => choose(i), onpointerenter: () => choose(i), onpointerdown: takeFocus,
      },
        el("div", { class: "tn-scores-above" },
          bar > 0 ? el("span", { text: score }) : null,
          bar > 0 ? el("div", { class: "tn-scores-bar", style: `height: ${bar * 34}px` }) : null),
        el("div", { class: "tn-scores-text", text }),
        el("div", { class: "tn-scores-below" },
          bar < 0 ? el("div", { class: "tn-scores-bar", style: `height: ${-bar * 34}px` }) : null,
          bar > 0 ? null : el("span", { text: score })))));
    note.textContent = model.get("state").note;
    summary.say(model.get("state").summary);
    point();
    if (kept) list.querySelector("[tabindex='0']").focus();
  };
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") list.closest(".jp-Cell")?.focus();
    const at = [...list.children].indexOf(document.activeElement);
    const to = {
      ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
      ArrowRight: at + 1, ArrowDown: at + 1, End: words().length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    list.children[clamp(to, 0, words().length - 1)].focus();
  });
  listen("change:state", answer);
  answer();
});
