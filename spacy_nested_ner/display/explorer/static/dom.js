// Small helpers for elements. Text from outside only ever becomes text nodes and attributes; the only HTML that is taken
// as HTML is the drawing, which the server has escaped.

export const byId = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export function drawingFrom(html) {
  return new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
}

// As the drawing writes it: only what is certain is 100%.
export function percent(probability) {
  if (probability >= 0.995 && probability < 1) return ">99%";
  if (probability > 0 && probability < 0.005) return "<1%";
  return `${Math.round(100 * probability)}%`;
}

// Of a whole analysis, which has many competitors: small ones have two digits.
export function finePercent(probability) {
  return probability >= 0.001 && probability < 0.0995 ? `${(100 * probability).toPrecision(2)}%` : percent(probability);
}

export function probabilityBar(probability, color = "") {
  const bar = make("span", { class: `bar ${color}`, "aria-hidden": "true" });
  const fill = make("span");
  fill.style.width = `${(100 * probability).toFixed(1)}%`;
  bar.append(fill);
  return bar;
}

export function labelTag(label, color) {
  return make("span", { class: `nested-mentions-tag ${color ?? ""}` }, label);
}

export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// A region of the page that is about to change says so, from the first sign of it on: screen readers wait until it is done.
const changes = new Map();
function expectChange(region, number) {
  const expected = (changes.get(region) ?? 0) + number;
  changes.set(region, expected);
  byId(region).setAttribute("aria-busy", String(expected > 0));
}

export async function changing(region, call) {
  expectChange(region, 1);
  try {
    await call();
  } finally {
    expectChange(region, -1);
  }
}

// A call some time after the last one that was asked for.
export function debounce(wait, call, region = null) {
  let timer = null;
  return (...args) => {
    if (region && timer === null) expectChange(region, 1);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      call(...args);
      if (region) expectChange(region, -1);
    }, wait);
  };
}

// One call at a time. Calls that come meanwhile are answered by one more, with what is then the latest state.
export function oneAtATime(region, call) {
  let running = false;
  let again = false;
  return async () => {
    again = true;
    if (running) return;
    running = true;
    await changing(region, async () => {
      try {
        while (again) {
          again = false;
          await call();
        }
      } finally {
        running = false;
      }
    });
  };
}

// Buttons with role=tab: arrow keys move, as the ARIA practices have it.
export function tabs(list, chosen) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab, focus) => {
    for (const each of all) {
      const on = each === tab;
      each.setAttribute("aria-selected", on);
      each.tabIndex = on ? 0 : -1;
      byId(each.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
    chosen(tab.id);
  };
  for (const tab of all) {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -all.indexOf(tab), End: all.length - 1 - all.indexOf(tab) }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      choose(all[(all.indexOf(tab) + step + all.length) % all.length], true);
    });
  }
  return (id) => choose(byId(id));
}
