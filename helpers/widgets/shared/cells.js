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

/** Diagonal lines for cells without a number. */
function hatching(colors) {
  const tile = document.createElement("canvas");
  const g = sized(tile, 6, 6);
  g.strokeStyle = colors.muted;
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
