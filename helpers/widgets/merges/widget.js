// Byte pair encoding, one merge after the other. Which step is shown lives on the model; of which
// pair the places are framed belongs to one view: the one that is merged next, or a chosen one.

const WIDE = 220, HIGH = 46; // of a curve, in its own pixels

/** One number at each step as a curve with a point at the present one; a click goes to a step. */
function curve(name, go) {
  const line = svg("path"), dot = svg("circle", { r: 4 });
  const number = el("b", {});
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, "aria-hidden": "true" }, line, dot);
  const node = el("div", { class: "tn-merges-curve" },
    el("div", {}, number, el("span", { text: ` ${name}` })), drawing);
  let last = 0;
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * WIDE;
    go(Math.round(((share - 5) / (WIDE - 10)) * last));
  });
  const draw = (numbers, at) => {
    last = numbers.length - 1;
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const x = (i) => 5 + ((WIDE - 10) * i) / (last || 1);
    const y = (v) => HIGH - 6 - ((HIGH - 12) * (v - low)) / (high - low || 1);
    line.setAttribute("d", numbers.map((v, i) => `${i ? "L" : "M"}${x(i)} ${y(v)}`).join(""));
    dot.setAttribute("cx", x(at));
    dot.setAttribute("cy", y(numbers[at]));
    number.textContent = numbers[at].toLocaleString("en-US");
  };
  return { node, draw };
}

export default widget(({ model, root, listen, cleanup }) => {
  const state = () => model.get("state");
  const last = () => state().steps.length - 1;
  const at = () => Math.min(model.get("step"), last()); // of a shorter text there are fewer
  const step = () => state().steps[at()];
  const text = (token) => state().tokens[token][0];
  const words = (count) => count.toLocaleString("en-US");
  let chosen = null; // the number of a pair in the list, once somebody chose one

  const go = (to) => {
    model.set("step", clamp(to, 0, last()));
    model.save_changes();
  };
  const turn = (name, by) =>
    el("button", { type: "button", text: name, onclick: () => go(at() + by) });
  const [previous, next] = [turn("‹ Previous", -1), turn("Next ›", 1)];
  const range = el("input", {
    type: "range", min: 0, step: 1, "aria-label": "merges", oninput: () => go(Number(range.value)),
  });
  const count = el("span", { class: "tn-merges-count", "aria-hidden": "true" });

  const stage = el("div", { class: "tn-merges-text", role: "img" });
  const list = el("div", { class: "tn-merges-pairs", role: "listbox", "aria-label": "pairs" });
  walk(list);
  const tokens = el("div", { class: "tn-token-run tn-merges-tokens", role: "img" });
  const more = {
    pairs: el("div", { class: "tn-merges-note" }), tokens: el("div", { class: "tn-merges-note" }),
  };
  const distinct = curve("distinct tokens", go);
  const length = curve("tokens in the text", go);
  const status = statusLine();
  const pair = statusLine();
  const note = el("div", { class: "tn-merges-note" });
  cleanup(status.stop);
  cleanup(pair.stop);

  const box = (token, attributes, under) => tokenBox(...state().tokens[token], attributes, under);

  /** The text, with the places of one pair framed, from left to right without overlap. */
  const drawText = ([left, right]) => {
    const { made } = step();
    const fresh = (token) => box(token, { class: token === made ? "tn-merges-made" : "" });
    stage.replaceChildren(...step().words.map((word) => {
      const parts = [];
      for (let i = 0; i < word.length; i += 1)
        if (word[i] === left && word[i + 1] === right) {
          parts.push(el("div", { class: "tn-merges-framed" }, fresh(left), fresh(right)));
          i += 1;
        } else parts.push(fresh(word[i]));
      return el("div", { class: "tn-merges-word" }, ...parts);
    }));
    stage.setAttribute("aria-label",
      step().words.map((word) => word.map(text).join("|")).join(" "));
  };

  const point = () => {
    const { pairs, next: following } = step();
    const here = Math.min(chosen ?? following ?? 0, pairs.length - 1);
    select(list, here);
    const [left, right, times] = pairs[here] ?? [null, null];
    drawText([left, right]);
    pair.say(here < 0 ? "There are no pairs."
      : `pair ${text(left)} + ${text(right)}, ${words(times)} time${times === 1 ? "" : "s"}`
        + `${here === following ? ", merged next" : ""}`);
  };
  const choose = (to) => {
    if (to === chosen) return;
    chosen = to;
    point();
  };

  const draw = () => {
    const { pairs, next: following, tokens: common, says, morePairs, moreTokens, made } = step();
    const held = list.contains(document.activeElement);
    chosen = null;
    range.max = last();
    range.value = at();
    range.setAttribute("aria-valuetext", `${at()} of ${last()}`);
    count.textContent = `${at()} of ${last()} merges`;
    previous.setAttribute("aria-disabled", String(at() === 0));
    next.setAttribute("aria-disabled", String(at() === last()));
    // One scale for all steps, so that bars shorten as pairs are merged.
    const most = Math.max(...state().steps.flatMap((one) => one.pairs.map(([, , times]) => times)));
    list.replaceChildren(...pairs.map(([left, right, times], i) =>
      el("div", {
        class: "tn-merges-pair", role: "option", tabindex: -1,
        "aria-label": `${text(left)} + ${text(right)}, ${times}${i === following ? ", next" : ""}`,
        onfocus: () => choose(i), onpointerenter: () => choose(i),
        onpointerdown: takeFocus,
      },
        el("div", { class: "tn-merges-word" }, box(left), box(right)),
        el("div", { class: "tn-merges-bar" },
          el("div", { style: `width: ${(100 * times) / most}%` })),
        el("span", { text: words(times) }),
        el("span", { text: i === following ? "next" : "" }))));
    more.pairs.textContent = morePairs ? `and ${words(morePairs)} more` : "";
    tokens.replaceChildren(...common.map(([token, times]) =>
      box(token, { class: token === made ? "tn-merges-made" : "" }, words(times))));
    tokens.setAttribute("aria-label",
      common.map(([token, times]) => `${text(token)} ${times}`).join(", "));
    more.tokens.textContent = moreTokens ? `and ${words(moreTokens)} more` : "";
    distinct.draw(state().steps.map((one) => one.distinct), at());
    length.draw(state().steps.map((one) => one.length), at());
    status.say(says);
    note.textContent = state().note;
    point();
    if (held) list.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  };
  list.addEventListener("pointerleave", () => {
    if (!list.contains(document.activeElement)) choose(null);
  });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.type === "text") return;
    const by = { "[": -1, "]": 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    go(at() + by);
  });

  const panel = (title, ...content) =>
    el("div", { class: "tn-merges-panel" },
      el("div", { class: "tn-merges-title", text: title }), ...content);
  root.append(
    controlsBar(model, listen),
    el("div", { class: "tn-controls tn-merges-steps", role: "group", "aria-label": "merges" },
      previous, range, next, count),
    el("div", { class: "tn-merges-says" }, ...status.nodes),
    stage,
    el("div", { class: "tn-merges-panels" },
      panel("pairs, and how often", list, more.pairs),
      panel("tokens, and how often", tokens, more.tokens),
      el("div", { class: "tn-merges-curves" }, distinct.node, length.node)),
    el("div", { class: "tn-merges-pair-says" }, ...pair.nodes),
    note,
    el("div", { class: "tn-merges-note", text:
      "Step with the slider, or with [ and ]. Point at a pair or use the arrow keys to see where "
      + "it stands: it is framed. Dark edges: the token that the last merge made." }));
  listen("change:state", draw);
  listen("change:step", draw);
  draw();
});
