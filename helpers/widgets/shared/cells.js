// Shared by the widgets that draw numbers as colored cells on a canvas.

// A label keeps its own writing direction inside a sentence (first strong isolate … pop).
const isolated = (label) => `\u2068${label}\u2069`;

/** What a palette is made of: the theme's colors, as the style sheet has them, and their mixtures. */
function theme(root) {
  const style = getComputedStyle(root);
  const rgb = (name) => {
    const hex = style.getPropertyValue(`--tn-${name}`).trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));
  const luminance = (color) => {
    const [r, g, b] = color.map((x) => {
      const s = x / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const css = (color) => `rgb(${color.join(" ")})`;
  // 0.179 is the luminance at which black and white ink contrast equally with the ground.
  const isLight = (color) => luminance(color) > 0.179;
  return { rgb, mix, css, isLight };
}

/** A canvas context of the given size in CSS pixels, sharp on every screen. */
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Diagonal lines for cells without a number, quieter than the numbers' colors. */
function hatching(colors) {
  const tile = document.createElement("canvas");
  const g = sized(tile, 6, 6);
  g.strokeStyle = colors.hatch;
  g.beginPath();
  for (const x of [-6, 0, 6]) {
    g.moveTo(x, 6);
    g.lineTo(x + 6, 0);
  }
  g.stroke();
  const pattern = g.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / (window.devicePixelRatio || 1)));
  return pattern;
}

/**
 * What the widgets of colored cells share: a stage, one cell that has the keys, buttons for the
 * views, and the wiring of mouse, keys, theme and size. What is chosen lives on the model, so all
 * views and Python share it; what is hovered, and which view is shown, belong to one view.
 *
 * prefix:  of the class names.          views:  names; "Table" is a plain table, others are grids.
 * lay():   builds all for the present data, view and width.
 * point(): shows what is hovered, else what is chosen.
 * locate(event): what is under the pointer, or null.
 * keysAt(target, onGrid): what keys do there, a name -> what `step` takes; or nothing.
 */
function cellStage({ model, root, onTheme, cleanup }, given) {
  const { prefix, views, lay, point, locate, keysAt, step } = given;
  const id = `tn-${Math.random().toString(36).slice(2)}`;
  const cell = el("div", { role: "gridcell", class: `${prefix}cell` });
  const line = el("div", { role: "row" }, cell);
  const node = el("div", { class: `${prefix}stage`, tabindex: 0 });
  const hint = el("div", { class: "tn-hint", id: `${id}-hint` });
  let view = views[0], hover = null, width = 0;

  const relay = () => {
    width = root.clientWidth;
    if (width) lay(); // else it is not on the page now: the observer calls again
  };
  const buttons = views.map((name) => el("button", {
    type: "button", text: name, "aria-pressed": String(name === view),
    onclick: () => {
      view = name;
      hover = null;
      for (const button of buttons)
        button.setAttribute("aria-pressed", String(button.textContent === name));
      relay();
    },
  }));
  const onGrid = () => view !== "Table";

  const hoverAt = (at) => {
    if (JSON.stringify(at) === JSON.stringify(hover)) return;
    hover = at;
    point();
  };
  const choose = (changes) => {
    hover = null;
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  node.addEventListener("pointermove", (event) => hoverAt(locate(event)));
  node.addEventListener("pointerleave", () => hoverAt(null));
  node.addEventListener("click", (event) => {
    const at = locate(event);
    if (at) choose(at);
  });
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = keysAt(event.target, event.target === node && onGrid())?.[event.key];
    if (event.key === "Escape") root.closest(".jp-Cell")?.focus();
    else if (move) step(move);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // While JupyterLab exchanges its style sheets the page has no width; a frame later it has one.
  onTheme(() => requestAnimationFrame(relay));
  // Also when the cell comes back into the window: its canvases may have been dropped.
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== width) relay();
  });
  observer.observe(root);
  cleanup(() => observer.disconnect());

  return {
    node, cell, line, hint, buttons, choose, relay, onGrid,
    view: () => view,
    hover: () => hover,
    leave: () => (hover = null),
    isOnPage: () => width > 0,
    /** Empty the stage, and name what it will hold. */
    clear(label, rows, columns) {
      node.replaceChildren();
      node.setAttribute("role", onGrid() ? "grid" : "group");
      node.setAttribute("aria-label", label);
      const ofGrid = {
        "aria-rowcount": rows, "aria-colcount": columns, "aria-describedby": hint.id,
        "aria-activedescendant": cell.id,
      };
      for (const [name, value] of Object.entries(ofGrid))
        if (onGrid()) node.setAttribute(name, value);
        else node.removeAttribute(name);
    },
    /** The chosen cell, for a screen reader. */
    tell(row, column, label) {
      cell.id = `${id}-${row}-${column}`;
      line.setAttribute("aria-rowindex", row + 1);
      cell.setAttribute("aria-colindex", column + 1);
      cell.setAttribute("aria-label", label);
      if (onGrid()) node.setAttribute("aria-activedescendant", cell.id);
    },
  };
}
