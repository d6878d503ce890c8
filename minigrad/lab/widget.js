// One skin for all labs. Python makes the HTML; this file shows it, and reports what was pressed.
// Nothing is rebuilt: the elements on the page are kept and changed (by data-id or id, else by place), so focus and selection survive.
// What an element does stands in its attributes: data-send (the message to Python), data-walk (arrow keys walk through its parts,
// which are one tab stop), data-copy, data-play (presses the button that it names), data-key (a key that presses it).

const ELEMENTS = new Set(("svg g defs marker rect path line polyline polygon circle ellipse text tspan title desc style " +
  "div span p b i em strong code pre table thead tbody tr th td caption button input label ul ol li details summary br hr h4 " +
  "math mrow mi mn mo mtext msup msub msubsup mfrac msqrt mover munder mspace mstyle").split(" "));

export function safe(source) {
  const root = new DOMParser().parseFromString(`<div>${source}</div>`, "text/html").body.firstElementChild;
  for (const element of root.querySelectorAll("*")) {
    if (!ELEMENTS.has(element.localName)) { element.remove(); continue; }
    for (const { name, value } of [...element.attributes])
      if (/^on|href$|^src|^action$|^formaction$/i.test(name) || /^\s*(javascript|data):/i.test(value)) element.removeAttribute(name);
  }
  return root;
}

const PATIENCE = 3000;        // milliseconds that Python may take to answer

const OURS = ["tabindex", "data-lm-suppress-shortcuts"];

const key = (node) => node.dataset?.id || node.id;

export function morph(now, next) {
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && !OURS.includes(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (!(OURS.includes(name) && now.hasAttribute(name)) && now.getAttribute(name) !== value) now.setAttribute(name, value);
  if (now.localName === "input") {
    const free = now !== document.activeElement || now.type === "radio" || now.type === "range" && !now.waiting;
    if (free && now.value !== next.value) now.value = next.value;
    now.checked = next.hasAttribute("checked");
  }
  const byId = new Map([...now.children].filter(key).map((child) => [key(child), child]));
  const loose = [...now.childNodes].filter((child) => !key(child));
  const wanted = [...next.childNodes].map((child) => {
    const at = loose.findIndex((other) => other.nodeName === child.nodeName);
    const old = key(child) ? byId.get(key(child)) : at < 0 ? undefined : loose.splice(0, at + 1)[at];
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

// JupyterLab's shortcuts apply to whatever has the focus, so the mark must be on that element, not only around it.
function keepKeys(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

const shown = (element) => element.getClientRects().length > 0 && !element.disabled;

function parts(walk) {
  return [...walk.querySelectorAll("[data-send]:not(input), svg [tabindex]")].filter((part) => shown(part) && part.closest("[data-walk]") === walk);
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "mg-lab mg-picture";                    // the picture's class gives the picture's colours
  keepKeys(root);
  el.append(root);
  const silence = document.createElement("div");           // what to say when Python does not answer
  silence.className = "mg-silence";
  silence.dataset.id = "silence";
  silence.setAttribute("role", "alert");
  let waiting = false, next = null, timer = null, patience = null;

  function send(message, latest = false) {                 // of a slider that is dragged, one message at a time; the last one wins
    if (latest && waiting) { next = message; return; }
    waiting = true;
    patience ??= setTimeout(() => {
      silence.textContent = "Python does not answer. If another cell is running, wait for it. If the kernel was restarted, or the " +
        "notebook was opened anew, run this cell again (and the setup cell before it).";
      root.prepend(silence);
    }, PATIENCE);
    try { model.send(message); } catch {}                   // there is no kernel: nobody will answer
  }

  function answered() {
    clearTimeout(patience);
    patience = null;
    silence.remove();
    waiting = false;
    if (next === null) return;
    const message = next;
    next = null;
    send(message, true);
  }

  function draw() {
    const focused = document.activeElement;
    for (const slider of root.querySelectorAll("input[type=range]")) slider.waiting = next !== null;
    const fresh = document.createElement("div");
    fresh.className = root.className;
    fresh.append(...safe(model.get("html")).childNodes);
    for (const svg of fresh.querySelectorAll(".mg-scroll > svg"))
      svg.style.minWidth = `${0.68 * svg.getAttribute("width")}px`;              // it shrinks so far, then it scrolls
    if (silence.isConnected) fresh.prepend(silence.cloneNode(true));
    morph(root, fresh);
    if (root.contains(focused) && focused !== document.activeElement) focused.focus({ preventScroll: true });
    root.querySelectorAll("button, input, summary, svg [tabindex]").forEach(keepKeys);
    for (const walk of root.querySelectorAll("[data-walk]")) {
      const items = parts(walk);
      const stop = items.find((item) => item.tabIndex === 0 && item.hasAttribute("tabindex")) ?? items[0];
      for (const item of items) item.tabIndex = item === stop ? 0 : -1;
    }
    const outdated = root.querySelector("[data-outdated]") !== null;               // the cell's own error, which stands below
    for (let below = root.closest(".jp-OutputArea-child"); (below = below?.nextElementSibling);) below.style.opacity = outdated ? 0.5 : "";
    fade();
  }

  function fade() {                                        // a picture that goes on to the right says so
    for (const box of root.querySelectorAll(".mg-scroll"))
      box.classList.toggle("mg-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
  }

  async function copy(button) {
    const text = button.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {                                              // browsers give no clipboard to pages without https
      button.textContent = "Not allowed to copy";
    }
    setTimeout(() => { button.textContent = text; }, 2000);
  }

  root.addEventListener("click", (event) => {
    const target = event.target.closest("[data-send], [data-copy], [data-play]");
    if (!target || target.localName === "input") return;
    if (target.dataset.copy !== undefined) copy(target);
    else if (target.dataset.play === undefined) send(JSON.parse(target.dataset.send));
    else if (timer !== null) stop();
    else timer = setInterval(() => {
      const press = root.querySelector(target.dataset.play);
      if (press && !press.disabled) press.click(); else stop();
    }, 1200);
  });
  root.addEventListener("input", (event) => {
    const { type, dataset, value } = event.target;
    if (type === "range") send({ ...JSON.parse(dataset.send), value: Number(value) }, true);
  });
  root.addEventListener("change", (event) => {
    const { type, dataset, value } = event.target;
    if (dataset.send && type !== "range") send({ ...JSON.parse(dataset.send), value });
  });
  root.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writes = target.localName === "input" && ["text", "number"].includes(target.type);
    const pressed = !writes && key.length === 1 && root.querySelector(`[data-key="${CSS.escape(key.toLowerCase())}"]`);
    if (pressed && !pressed.disabled) { event.preventDefault(); pressed.focus(); pressed.click(); return; }
    const walk = target.closest("[data-walk]");
    if (!walk || writes) return;
    const all = parts(walk), at = all.indexOf(target);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    const to = key === "Home" ? 0 : key === "End" ? all.length - 1 : at + step;
    if (at < 0 || target.type === "range" || !(to in all)) return;
    event.preventDefault();
    all[to].focus();
  });
  root.addEventListener("focusin", (event) => {
    const walk = event.target.closest("[data-walk]");
    if (walk) for (const item of parts(walk)) item.tabIndex = item === event.target ? 0 : -1;
  });
  root.addEventListener("scroll", fade, true);
  const resized = new ResizeObserver(fade);
  resized.observe(root);
  model.on("change:html", draw);
  model.on("change:answered", answered);
  draw();
  return () => {
    stop();
    clearTimeout(patience);
    resized.disconnect();
    model.off("change:html", draw);
    model.off("change:answered", answered);
  };
}

export default { render };
