// Shared by the widgets that show probabilities of words as bars.

/** A word, and beside it a bar with its number for each [kind, share of a full bar, number]. */
const barRow = (word, bars, attributes = {}) =>
  el("div", { ...attributes, class: `tn-bars-row ${attributes.class ?? ""}` },
    el("div", { class: "tn-bars-word", "aria-hidden": "true", dir: "auto", text: word }),
    el("div", { "aria-hidden": "true" }, ...bars.map(([kind, share, number]) =>
      el("div", { class: `tn-bars-line tn-bars-${kind}` },
        el("div", {},
          share ? el("div", { class: "tn-bars-bar", style: `width: ${100 * share}%` }) : null),
        el("span", { text: number })))));

/** What the bars mean: pairs [kind, name], and how much a full bar is. */
const barKey = (kinds, full) => [
  ...kinds.map(([kind, name]) => el("span", { class: `tn-bars-${kind}`, text: name })),
  el("span", { text: `a full bar is ${full}` }),
];
