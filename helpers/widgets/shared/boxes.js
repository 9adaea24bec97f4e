// Shared by the widgets that show tokens as colored boxes.

/** Text as nodes, the marks of blanks and line ends in it quieter than its letters. */
const marked = (text) =>
  text.split(/([␣↵⇥]+)/u).map((part, i) => (i % 2 ? el("i", { text: part }) : part));

/** A token in a box of its color; `under` is a line below it. */
function tokenBox(text, hue, attributes = {}, under = null) {
  const style = hue === null ? null : `--hue: var(--tn-hue-${hue})`;
  return el("div", { ...attributes, class: `tn-token ${attributes.class ?? ""}`, style },
    el("span", { dir: "auto" }, ...marked(text)),
    under === null ? null : el("small", { text: under }));
}
