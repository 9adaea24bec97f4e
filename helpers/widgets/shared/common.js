// Shared by every widget: safe elements, controls, questions to Python, theme and clean-up.
// Text reaches the page as text only (textContent, setAttribute): no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";
const KEYS = "data-lm-suppress-shortcuts";

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
    node.setAttribute(KEYS, "true");
  node.append(...children.filter((child) => child != null));
  return node;
}

/** For pointerdown: the element takes the focus, or else the notebook would, for its cell. */
function takeFocus(event) {
  event.preventDefault();
  event.currentTarget.focus({ preventScroll: true });
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** A text, or its beginning and an ellipsis, as `short` in text.py cuts it. */
const brief = (text) => ([...text].length <= 40 ? text : `${[...text].slice(0, 39).join("")}…`);

/** A number with two decimals and a true minus sign, never "−0.00", as `two` in small.py does. */
const two = (x) => x.toFixed(2).replace(/^-0\.00$/, "0.00").replace("-", "−");

/**
 * A label as nodes: in a name such as D_q or Ω_mlp, what follows the underscore is a subscript.
 */
function typeset(label) {
  const parts = label.split(/(?<![\p{L}\d_])(\p{L})_([\p{L}\d]{1,3})(?![\p{L}\d_])/u);
  return parts.map((part, i) => (i % 3 === 2 ? el("sub", { text: part }) : part));
}

/**
 * Ask Python for new values. While one message is under way, ipywidgets keeps the newest values
 * only, so a fast hand builds no queue. Half a character (a lone surrogate) cannot travel.
 */
function ask(model, changes) {
  const values = { ...model.get("values"), ...changes };
  for (const [name, value] of Object.entries(values))
    if (typeof value === "string") values[name] = value.replace(/\p{Cs}/gu, "\ufffd");
  model.set("values", values);
  model.set("asked", model.get("asked") + 1);
  model.save_changes();
}

/** The number on a slider's steps that is nearest to x, as `on_step` in live.py finds it. */
function onStep({ min, max, step, digits }, x) {
  const steps = Math.floor((clamp(x, min, max) - min) / step + 0.5);
  return Number((min + steps * step).toFixed(digits)) + 0;
}

/** Sliders, switches, lists, text boxes for the model's controls; they follow when another view does. */
function controlsBar(model, listen) {
  const bar = el("div", { class: "tn-controls" });
  const sliders = el("div", { class: "tn-sliders" });
  const followers = [];
  for (const control of model.get("controls")) {
    const id = `tn-${Math.random().toString(36).slice(2)}`;
    const label = el("label", { for: id }, ...typeset(control.label));
    const now = () => model.get("values")[control.name] ?? control.value;
    if (control.kind === "slider") {
      const output = el("output", { for: id, "aria-hidden": "true" }); // the slider says it itself
      const input = el("input", {
        id, type: "range", min: control.min, max: control.max, step: control.step,
        oninput: () => {
          const value = onStep(control, Number(input.value));
          show(value);
          ask(model, { [control.name]: value });
        },
      });
      const show = (value) => {
        output.textContent = value.toFixed(control.digits).replace("-", "−");
        input.setAttribute("aria-valuetext", output.textContent);
        if (onStep(control, Number(input.value)) !== value) input.value = value;
      };
      const follow = () => show(onStep(control, now()));
      follow();
      followers.push(follow);
      sliders.append(el("div", { class: "tn-control" }, label, input, output));
      bar.append(sliders);
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
      }, el("span", {}, ...typeset(control.label)),
        ...boxes.map((box, i) => el("label", {}, box, el("span", {}, ...typeset(control.labels[i]))))));
    } else if (control.kind === "options") {
      const list = el("select", {
        id, onchange: () => ask(model, { [control.name]: list.value }),
      }, ...control.labels.map((text) => el("option", { text })));
      const show = () => (list.value = now());
      show();
      followers.push(show);
      bar.append(el("div", { class: "tn-control" }, label, list));
    } else {
      const input = el("input", {
        id, type: "text", spellcheck: "false", autocomplete: "off", maxlength: control.longest,
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

/**
 * The line that says in words what is chosen; a screen reader hears it at most twice a second, and
 * before it the place (a head, a page) where that is another than it heard last.
 */
function statusLine() {
  const shown = el("div", { class: "tn-status", "aria-hidden": "true" });
  const spoken = el("div", { class: "tn-spoken", role: "status" });
  let timer = null, told = "";
  const say = (text, place = "") => {
    shown.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      spoken.textContent = place === told ? text : `${place}: ${text}`;
      told = place;
    }, 500);
  };
  return { nodes: [shown, spoken], say, stop: () => clearTimeout(timer) };
}

const GRACE = 600; // milliseconds in which an answer may come without a word about it

/**
 * While Python owes an answer, or its answer was an error, what is shown does not belong to the
 * controls: it is dimmed, and a line says why. The line also says that Python has gone.
 */
function watchAnswers(model, host, root, listen) {
  const note = el("div", { class: "tn-waiting", role: "status" });
  // JupyterLab marks what opens without its kernel; afterwards an event tells of a restart.
  let lost = host.classList.contains("jupyter-widgets-disconnected");
  let timer = null, late = false;
  const owes = () => model.get("asked") !== model.get("answered");
  const show = () => {
    const kernel = model.widget_manager?.kernel; // null after it was shut down
    const gone = model.get("recomputes") && (lost || kernel === null);
    const text = gone ? "Python no longer answers here: run this cell again."
      : !late ? ""
      : kernel?.status === "busy" ? "Waiting for Python, which is busy."
      : "Waiting for Python. If no answer comes, run this cell again.";
    if (note.textContent !== text) note.textContent = text;
    note.classList.toggle("tn-gone", gone);
    root.classList.toggle("tn-stale", Boolean((owes() && (late || gone)) || model.get("problem")));
  };
  const wait = () => {
    timer ??= setInterval(() => {
      late = true;
      show();
    }, GRACE);
    show();
  };
  const rest = () => {
    clearInterval(timer);
    timer = null;
    late = false;
    if (owes()) wait();
    else show();
  };
  listen("change:asked", wait);
  listen("change:answered", rest);
  listen("change:problem", show);
  listen("comm_live_update", () => {
    lost = true;
    show();
  });
  rest();
  return { note, stop: () => clearInterval(timer) };
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
      const ended = new AbortController();
      const { signal } = ended;
      undo.push(() => ended.abort());
      const root = el("div", { class: "tn-widget" });
      host.append(root);

      // Forced colors follow the system, not JupyterLab's theme.
      const forced = matchMedia("(forced-colors: active)");
      const system = matchMedia("(prefers-color-scheme: dark)");
      const isDark = () => {
        const light = document.body.getAttribute("data-jp-theme-light");
        return light === null || forced.matches ? system.matches : light === "false";
      };
      const themed = [];
      const paintTheme = () => {
        root.classList.toggle("tn-dark", isDark());
        themed.forEach((handler) => handler());
      };
      const watcher = new MutationObserver(paintTheme);
      watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
      undo.push(() => watcher.disconnect());
      for (const query of [forced, system]) query.addEventListener("change", paintTheme, { signal });
      // After a zoom pixels have another size: what is drawn in pixels is drawn again.
      const watchZoom = () => {
        const zoom = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
        const zoomed = () => {
          paintTheme();
          watchZoom();
        };
        zoom.addEventListener("change", zoomed, { once: true, signal });
      };
      watchZoom();

      // Controls keep their keys from JupyterLab, but for Ctrl or Cmd and S, which saves. A control
      // that let it through is closed again by the next key, which may come before any timer.
      let open = null;
      const pass = ({ key, ctrlKey, metaKey, target }) => {
        open?.setAttribute(KEYS, "true");
        open = null;
        const saves = key.toLowerCase() === "s" && (ctrlKey || metaKey);
        if (!saves || !root.contains(target) || !target.hasAttribute(KEYS)) return;
        open = target;
        target.removeAttribute(KEYS);
      };
      window.addEventListener("keydown", pass, { capture: true, signal });

      const problem = el("div", { class: "tn-problem", role: "alert" });
      const showProblem = () => {
        problem.textContent = model.get("problem");
        problem.hidden = !model.get("problem");
      };
      listen("change:problem", showProblem);

      build({ model, root, listen, onTheme: (h) => themed.push(h), cleanup: (h) => undo.push(h) });
      const answers = watchAnswers(model, host, root, listen);
      undo.push(answers.stop);
      // Under the controls, where the hand is; else on top.
      const bar = [...root.children].findLast((child) => child.matches(".tn-controls"));
      if (bar) bar.after(answers.note);
      else root.prepend(answers.note);
      root.append(problem);
      showProblem();
      paintTheme();
      undo.push(() => root.remove());
      return allOf(undo);
    },
  };
}

// Made apart from what it undoes: who keeps it must not keep the page's nodes alive.
const allOf = (steps) => () => steps.splice(0).forEach((step) => step());
