// Shared by every widget: safe elements, controls, questions to Python, theme and clean-up.
// Text reaches the page as text only (textContent, setAttribute): no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `attributes` may hold event handlers (onclick …) and `text`. */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === false || value == null) continue;
    else node.setAttribute(name, value === true ? "" : value);
  }
  // JupyterLab takes keys from whatever is focused, unless the element itself says otherwise.
  if (["INPUT", "BUTTON", "SELECT"].includes(node.tagName) || "tabindex" in attributes)
    node.setAttribute("data-lm-suppress-shortcuts", "true");
  node.append(...children.filter((child) => child != null));
  return node;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** A number with two decimals and a true minus sign, never "−0.00", as `two` in small.py does. */
const two = (x) => x.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");

/**
 * Ask Python for new values. One question is open at a time; while it is, only the newest values
 * are kept. The model is shared by all views, so the bookkeeping lives on the model.
 */
function ask(model, changes) {
  const values = { ...model.get("values"), ...changes };
  model.set("values", values);
  if (model.get("asked") !== model.get("answered")) {
    model.set("waiting", true);
    return;
  }
  model.set("waiting", false);
  model.set("asked", model.get("asked") + 1);
  model.save_changes();
}

/** Sliders, switches, text boxes for the model's controls; they follow when another view does. */
function controlsBar(model, listen) {
  const bar = el("div", { class: "tn-controls" });
  const followers = [];
  for (const control of model.get("controls")) {
    const id = `tn-${Math.random().toString(36).slice(2)}`;
    const label = el("label", { for: id, text: control.label });
    const now = () => model.get("values")[control.name] ?? control.value;
    if (control.kind === "slider") {
      const show = (v) => (control.whole ? String(v) : two(Number(v)));
      const output = el("output", { for: id, text: show(now()) });
      const input = el("input", {
        id, type: "range", min: control.min, max: control.max, step: control.step,
        oninput: () => {
          output.textContent = show(input.value);
          ask(model, { [control.name]: Number(input.value) });
        },
      });
      input.value = now();
      followers.push(() => {
        if (Number(input.value) !== Number(now())) input.value = now();
        output.textContent = show(now());
      });
      bar.append(el("div", { class: "tn-control" }, label, input, output));
    } else if (control.kind === "switches") {
      const boxes = control.labels.map(() => el("input", {
        type: "checkbox",
        onchange: () => ask(model, { [control.name]: boxes.map((box) => box.checked) }),
      }));
      const show = () => boxes.forEach((box, i) => (box.checked = now()[i]));
      show();
      followers.push(show);
      bar.append(el("div", {
        class: "tn-control tn-switches", role: "group", "aria-label": control.label,
      }, el("span", { text: control.label }),
        ...boxes.map((box, i) => el("label", {}, box, el("span", { text: control.labels[i] })))));
    } else {
      const input = el("input", {
        id, type: "text", spellcheck: "false", autocomplete: "off",
        oninput: () => ask(model, { [control.name]: input.value }),
      });
      input.value = now();
      followers.push(() => {
        if (document.activeElement !== input && input.value !== now()) input.value = now();
      });
      bar.append(el("div", { class: "tn-control tn-wide" }, label, input));
    }
  }
  listen("change:values", () => followers.forEach((follow) => follow()));
  return bar;
}

/** The line that says in words what is chosen; a screen reader hears it at most twice a second. */
function statusLine() {
  const shown = el("div", { class: "tn-status", "aria-hidden": "true" });
  const spoken = el("div", { class: "tn-spoken", role: "status" });
  let timer = null;
  const say = (text) => {
    shown.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => (spoken.textContent = text), 500);
  };
  return { nodes: [shown, spoken], say, stop: () => clearTimeout(timer) };
}

/**
 * Build a widget: calls build({model, root, listen, onTheme, cleanup}) and returns the clean-up
 * that JupyterLab calls when the view goes away.
 */
function widget(build) {
  return {
    render({ model, el: host }) {
      const undo = [];
      const listen = (event, handler) => {
        model.on(event, handler);
        undo.push(() => model.off(event, handler));
      };
      const root = el("div", { class: "tn-widget" });
      host.append(root);

      const isDark = () => {
        const light = document.body.getAttribute("data-jp-theme-light");
        if (light !== null) return light === "false";
        return matchMedia("(prefers-color-scheme: dark)").matches;
      };
      const themed = [];
      const paintTheme = () => {
        root.classList.toggle("tn-dark", isDark());
        themed.forEach((handler) => handler());
      };
      const watcher = new MutationObserver(paintTheme);
      watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
      undo.push(() => watcher.disconnect());

      // A question answered while newer values were waiting leads to the next question.
      listen("change:answered", () => {
        if (model.get("waiting")) ask(model, {});
      });
      const problem = el("div", { class: "tn-problem", role: "alert" });
      const showProblem = () => {
        problem.textContent = model.get("problem");
        problem.hidden = !model.get("problem");
      };
      listen("change:problem", showProblem);

      build({ model, root, listen, onTheme: (h) => themed.push(h), cleanup: (h) => undo.push(h) });
      root.append(problem);
      showProblem();
      paintTheme();
      return () => undo.forEach((step) => step());
    },
  };
}
