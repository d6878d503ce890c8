// One explorer: the program with its switches, the backward slider, the picture.
// Python holds the state and sends all of it as one value, `view`; this file shows it and reports what was pressed.
// Nothing is rebuilt: lines, switches and the picture's elements are kept and changed, so focus and selection survive.
// Text reaches the page only through textContent, and the picture only through an allow-list.

const ELEMENTS = new Set(["svg", "g", "defs", "marker", "rect", "path", "line", "polyline", "polygon", "circle", "ellipse",
  "text", "tspan", "title", "desc", "style"]);

export function safeSvg(source) {
  const svg = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (svg.localName !== "svg") return null;
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    if (!ELEMENTS.has(element.localName)) element.remove();
    for (const { name, value } of [...element.attributes])
      if (/^on|href$/i.test(name) || /(javascript|data):/i.test(value)) element.removeAttribute(name);
  }
  return document.importNode(svg, true);
}

export function morph(now, next) {
  const ours = ["tabindex", "data-lm-suppress-shortcuts"];
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && !ours.includes(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (!ours.includes(name) && now.getAttribute(name) !== value) now.setAttribute(name, value);
  const byId = new Map([...now.children].filter((child) => child.id).map((child) => [child.id, child]));
  const loose = [...now.childNodes].filter((child) => !child.id);
  const wanted = [...next.childNodes].map((child) => {
    const at = loose.findIndex((other) => other.nodeName === child.nodeName);
    const old = child.id ? byId.get(child.id) : at < 0 ? undefined : loose.splice(0, at + 1)[at];
    if (!old || old.nodeName !== child.nodeName) return child;
    if (child.nodeType !== Node.ELEMENT_NODE) { if (old.data !== child.data) old.data = child.data; } else morph(old, child);
    return old;
  });
  arrange(now, wanted);
}

// Give `parent` exactly these children; what is already in place is not touched, for a moved element loses the focus.
function arrange(parent, wanted) {
  const keep = new Set(wanted);
  for (const child of [...parent.childNodes]) if (!keep.has(child)) child.remove();
  let place = parent.firstChild;
  for (const child of wanted) {
    if (child === place) place = place.nextSibling;
    else parent.insertBefore(child, place);
  }
}

function make(parent, tag, className, attributes = {}) {
  const element = document.createElement(tag);
  element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (tag === "button" || tag === "input") keepKeys(element);
  parent?.append(element);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// JupyterLab's shortcuts apply to whatever has the focus, so the mark must be on that element, not only around it.
function keepKeys(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

// Arrow keys walk through `items()`, which have one tab stop together.
function walkable(element, items) {
  element.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : at + step;
    if (at < 0 || !(to in all)) return;
    event.preventDefault();
    all[to].focus();
  });
  element.addEventListener("focusin", (event) => {
    const item = items().find((other) => other.contains(event.target));
    if (item) for (const other of items()) other.tabIndex = other === item ? 0 : -1;
  });
}

function oneTabStop(items) {
  items.forEach(keepKeys);
  if (!items.some((item) => item.tabIndex === 0)) items.forEach((item, i) => { item.tabIndex = i ? -1 : 0; });
}

function render({ model, el }) {
  const root = make(el, "div", "mg-lab mg-picture");       // the picture's class gives the picture's colours
  keepKeys(root);
  const program = make(root, "div", "mg-program", { role: "toolbar", "aria-label": "The program and its switches" });
  const bar = make(root, "div", "mg-bar");
  const stepper = make(bar, "div", "mg-stepper", { role: "group", "aria-label": "Backward steps" });
  const back = make(stepper, "button", "mg-button", { type: "button", "aria-label": "One step back" });
  const slider = make(stepper, "input", "mg-slider", { type: "range", min: "0", "aria-label": "Backward step" });
  const forward = make(stepper, "button", "mg-button", { type: "button", "aria-label": "One step forward" });
  const count = make(stepper, "span", "mg-count");
  const buttons = Object.fromEntries([["copy", "Copy program"], ["reset", "Reset"], ["use", "Use these values"]].map(([name, text]) => {
    const button = make(bar, "button", "mg-button", { type: "button" });
    button.textContent = text;
    return [name, button];
  }));
  const caption = make(root, "div", "mg-caption", { role: "status" });
  const error = make(root, "pre", "mg-error", { role: "alert" });
  const notes = make(root, "div", "mg-note");
  const stale = make(root, "div", "mg-note");
  const picture = make(root, "div", "mg-scroll");
  const printed = make(root, "pre", "mg-printed", { "aria-label": "Printed by the program" });
  back.textContent = "◀";
  forward.textContent = "▶";

  const lines = new Map(), switches = new Map();
  const list = () => [...program.querySelectorAll(".mg-switch")];
  const parts = () => [...picture.querySelectorAll("[tabindex]")];
  walkable(program, list);
  walkable(picture, parts);

  function drawSwitch(item) {
    if (!switches.has(item.key)) {
      const button = make(null, "button", "mg-switch", { type: "button", role: "switch", "data-kind": item.kind, tabindex: "-1" });
      make(button, "span", "mg-name");
      make(button, "span", "mg-state");
      button.addEventListener("click", () => model.send({ toggle: item.key }));
      switches.set(item.key, button);
    }
    const button = switches.get(item.key);
    setText(button.firstChild, item.label);
    setText(button.lastChild, item.on ? "ON" : "OFF");
    button.setAttribute("aria-checked", item.on);
    button.setAttribute("aria-label", item.spoken);
    button.classList.toggle("mg-flipped", item.flipped);
    return button;
  }

  function drawLine(line, number) {
    if (!lines.has(line.origin)) {
      const row = make(null, "div", "mg-line");
      make(row, "span", "mg-number", { "aria-hidden": "true" });
      make(row, "code", "mg-text");
      make(row, "span", "mg-switches");
      lines.set(line.origin, row);
    }
    const row = lines.get(line.origin), [digits, text, holder] = row.children;
    setText(digits, line.failed ? `✗ ${number}` : String(number));
    setText(text, line.text);
    row.classList.toggle("mg-changed", line.changed);
    row.classList.toggle("mg-failed", line.failed);
    arrange(holder, line.switches.map(drawSwitch));
    return row;
  }

  let width = 5 + Math.max(...(model.get("view").lines ?? []).map((line) => line.text.length));   // what a toggle may add
  let waiting = false, wanted = null;
  function goTo(step) {                           // one question at a time while the slider is dragged; the last one wins
    if (waiting) { wanted = step; return; }
    waiting = true;
    model.send({ step });
  }

  function fade() {                               // a picture that goes on to the right says so
    picture.classList.toggle("mg-more", picture.scrollWidth - picture.clientWidth - picture.scrollLeft > 2);
  }

  function draw() {
    const view = model.get("view");
    if (!view.lines) return;
    const focused = document.activeElement;
    width = Math.max(width, ...view.lines.map((line) => line.text.length));
    program.style.setProperty("--mg-width", `${width}ch`);
    arrange(program, view.lines.map((line, i) => drawLine(line, i + 1)));
    if (root.contains(focused) && focused !== document.activeElement) focused.focus({ preventScroll: true });
    oneTabStop(list());
    waiting = false;
    slider.max = view.steps ? view.steps + 1 : 0;
    slider.disabled = back.disabled = forward.disabled = !view.steps;
    if (wanted === null) slider.value = view.step;
    const place = !view.steps ? "no backward pass" : view.step > view.steps ? "after backward"
      : view.step ? `step ${view.step} of ${view.steps}` : "before backward";
    slider.setAttribute("aria-valuetext", place);
    setText(count, place);
    setText(caption, view.caption);
    setText(error, view.error);
    setText(notes, view.notes);
    setText(printed, view.printed);
    setText(stale, view.stale ? "The picture below is still that of the last program that ran." : "");
    picture.classList.toggle("mg-stale", view.stale);
    buttons.reset.disabled = !view.flipped;
    buttons.use.disabled = !view.usable;
    const next = safeSvg(view.svg), svg = picture.firstElementChild;
    if (next) next.style.minWidth = `${0.68 * next.getAttribute("width")}px`;     // it shrinks so far, then it scrolls
    if (next && svg) morph(svg, next);
    else if (next) picture.append(next);
    oneTabStop(parts());
    fade();
    if (wanted !== null) { const step = wanted; wanted = null; goTo(step); }
  }

  slider.addEventListener("input", () => goTo(Number(slider.value)));
  back.addEventListener("click", () => goTo(Math.max(0, model.get("view").step - 1)));
  forward.addEventListener("click", () => goTo(Math.min(model.get("view").steps + 1, model.get("view").step + 1)));
  buttons.reset.addEventListener("click", () => model.send({ reset: true }));
  buttons.use.addEventListener("click", () => model.send({ use: true }));
  buttons.copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(model.get("view").source);
      setText(buttons.copy, "Copied");
    } catch {                                     // browsers give no clipboard to pages without https
      setText(buttons.copy, "Not allowed to copy");
    }
    setTimeout(() => setText(buttons.copy, "Copy program"), 2000);
  });
  const resized = new ResizeObserver(fade);
  resized.observe(picture);
  picture.addEventListener("scroll", fade);
  model.on("change:view", draw);
  draw();
  return () => {
    resized.disconnect();
    model.off("change:view", draw);
  };
}

export default { render };
