// What the page shows. Everything else is made from this; a link to the page holds it, too.

const LONGEST_LINK = 6000;
const listeners = new Map();

export const state = {
  facts: null, // of the model
  source: { text: "" }, // or { sentence: 3 }
  settings: null,
  analysis: null, // what the server found in the source; null until it answers
  selected: null, // { start, end }
  stretch: 0, // which part of the text the closer look is about
  look: "tab-compare",
};

export function on(event, call) {
  listeners.set(event, [...(listeners.get(event) ?? []), call]);
}

export function emit(event) {
  for (const call of listeners.get(event) ?? []) call();
}

export function setSource(source) {
  state.source = source;
  state.analysis = null;
  state.selected = null;
  state.stretch = 0;
  emit("source");
  emit("selected");
}

export function setSettings(changes) {
  state.settings = { ...state.settings, ...changes };
  emit("settings");
}

export function select(span) {
  if (span && !state.analysis) return; // it was on the page with an earlier text
  state.selected = span;
  if (span) {
    const place = state.analysis.stretches.findIndex(([start, end]) => span.start >= start && span.start < end);
    if (place >= 0 && place !== state.stretch) {
      state.stretch = place;
      emit("stretch");
    }
  }
  emit("selected");
}

export const request = (more = {}) => ({ source: state.source, settings: state.settings, ...more });

export const colorOf = (label) => state.facts?.labels.find(({ name }) => name === label)?.color ?? "";

export function textOf({ start, end }) {
  const { tokens, text } = state.analysis;
  return text.slice(offset(text, tokens[start][0]), offset(text, tokens[end - 1][1]));
}

// Python counts characters, JavaScript halves of them: 𝒳 is one character and two units.
let counted = { text: null, units: null };
export function offset(text, character) {
  return unitsOf(text)?.[character] ?? character;
}
export function character(text, unit) {
  const units = unitsOf(text);
  if (!units) return unit;
  let low = 0;
  let high = units.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (units[middle] < unit) low = middle + 1;
    else high = middle;
  }
  return low;
}
function unitsOf(text) {
  if (counted.text !== text) {
    const wide = /[\ud800-\udbff]/.test(text);
    const units = wide ? [0] : null;
    if (wide) for (const sign of text) units.push(units.at(-1) + sign.length);
    counted = { text, units };
  }
  return counted.units;
}

// ---- the link ----

export function link() {
  const parts = new URLSearchParams();
  if (state.source.text !== undefined) parts.set("text", state.source.text);
  else parts.set("sentence", state.source.sentence);
  for (const [name, value] of Object.entries(state.settings)) {
    if (value !== state.facts.settings[name]) parts.set(name, JSON.stringify(value));
  }
  if (state.selected) parts.set("span", `${state.selected.start}-${state.selected.end}`);
  if (state.look !== "tab-compare") parts.set("look", state.look.slice(4));
  return `#${parts}`;
}

export function rememberLink() {
  const now = link();
  history.replaceState(null, "", now.length <= LONGEST_LINK ? now : " ");
  return now.length <= LONGEST_LINK;
}

export function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const settings = { ...state.facts.settings };
  for (const name of Object.keys(settings)) {
    try {
      if (parts.has(name)) settings[name] = JSON.parse(parts.get(name));
    } catch { /* what is no setting stays as it is */ }
  }
  const number = Number.parseInt(parts.get("sentence"), 10);
  const [start, end] = (parts.get("span") ?? "").split("-").map(Number);
  return {
    settings,
    source: parts.has("text") ? { text: parts.get("text") } : number >= 0 ? { sentence: number } : null,
    selected: end > start ? { start, end } : null,
    look: ["compare", "heat", "others"].includes(parts.get("look")) ? `tab-${parts.get("look")}` : null,
  };
}
