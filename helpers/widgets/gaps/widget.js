// A sentence whose words can be hidden, and a model's guesses for each gap beside what is true.

const MASK = "<mask>";

export default widget(({ model, root, listen, cleanup }) => {
  const state = () => model.get("state");
  const masked = () => model.get("values").masked; // newer than shown, while Python computes
  let at = 0; // the word that has the keys

  const bar = el("div", {
    class: "tn-gaps-words", role: "toolbar", "aria-label": "words, to hide",
  });
  walk(bar);
  const word = statusLine();
  const summary = statusLine();
  const cards = el("div", { class: "tn-gaps-cards" });
  const key = el("div", { class: "tn-bars-key", "aria-hidden": "true" });
  const note = el("div", { class: "tn-gaps-note" });
  const all = el("button", {
    type: "button", text: "Show all words",
    onclick: () => masked().length && ask(model, { masked: [] }),
  });
  cleanup(word.stop);
  cleanup(summary.stop);

  const toggle = (place) => ask(model, {
    masked: masked().includes(place)
      ? masked().filter((other) => other !== place)
      : [...masked(), place].sort((a, b) => a - b),
  });
  const point = (to) => {
    at = clamp(to, 0, state().words.length - 1);
    [...bar.children].forEach((button, i) => (button.tabIndex = i === at ? 0 : -1));
    const { words, masked: places } = state();
    const does = places.includes(at)
      ? ", hidden: click, Enter or the space bar shows it"
      : ": click, Enter or the space bar hides it";
    word.say(`word ${at + 1} of ${words.length}, “${words[at]}”${does}`);
  };

  const card = ({ title, guesses, missed }) =>
    el("div", { class: "tn-gaps-card", role: "group", "aria-label": title },
      el("div", { class: "tn-gaps-title", text: title }),
      el("div", { role: "list" }, ...guesses.map(({ word, right, model, bar, truth, mark }) => {
        const bars = [["model", bar, model], ...(truth === null ? [] : [["truth", mark, truth]])];
        const row = barRow(right ? `${word} ✓` : word, bars, {
          class: right ? "tn-gaps-right" : "", role: "listitem",
        });
        row.append(el("span", { class: "tn-spoken", text:
          `${word}${right ? ", the hidden word" : ""}: model ${model}`
          + (truth === null ? "" : `, true ${truth}`) }));
        return row;
      })),
      missed ? el("div", { class: "tn-gaps-note", text: "The hidden word is not among these." })
        : null);

  const draw = () => {
    const held = bar.contains(document.activeElement);
    const { words, masked: places, gaps, full, truths } = state();
    bar.replaceChildren(...words.map((text, i) => {
      const hidden = places.includes(i);
      return el("button", {
        type: "button", class: hidden ? "tn-gaps-chip tn-gaps-hidden" : "tn-gaps-chip",
        "aria-pressed": String(hidden), "aria-label": hidden ? `${text}, hidden` : text,
        tabindex: -1, onclick: () => toggle(i), onfocus: () => point(i),
      },
        el("span", { dir: "auto", text: hidden ? MASK : text }),
        el("small", { dir: "auto", text: hidden ? text : "" }));
    }));
    cards.replaceChildren(...gaps.map(card));
    key.hidden = !gaps.length;
    key.replaceChildren(...barKey([
      ["model", "the model's probability"], ...(truths ? [["truth", "the true one"]] : []),
    ], full));
    all.hidden = !places.length;
    summary.say(state().summary);
    note.textContent = state().note;
    point(at);
    if (held) bar.children[at].focus({ preventScroll: true });
  };

  bar.addEventListener("pointerover", (event) => {
    const button = event.target.closest("button");
    if (button && !bar.contains(document.activeElement)) point([...bar.children].indexOf(button));
  });

  root.append(
    controlsBar(model, listen), bar, ...word.nodes,
    el("div", { class: "tn-gaps-summary" }, ...summary.nodes, all),
    key, cards, note);
  listen("change:state", draw);
  draw();
});
