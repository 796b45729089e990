// What the user has marked as right, wrong or missing. It stays in this browser until it is downloaded or cleared.

import { download, say, showProblem } from "./api.js";
import { byId, counted, labelTag, make } from "./dom.js";
import { colorOf, on, select, state, textOf } from "./store.js";

const listeners = [];
let kept = new Map(); // of every text: { source, marks: Map, complete, text }
let storeName = "";

export const onMarks = (call) => listeners.push(call);
const keyOf = ({ start, end, label }) => JSON.stringify([start, end, label]);
const keyOfSource = () => JSON.stringify(state.source);

export function startCorrections() {
  const { model, corpus } = state.facts;
  storeName = ["corrections of", model, corpus?.name, corpus?.fingerprint].filter(Boolean).join(" ");
  load();
  // Of the same explorer in another tab.
  addEventListener("storage", ({ key }) => {
    if (key === storeName) {
      load();
      tell();
    }
  });
  byId("complete").addEventListener("change", ({ target }) => {
    const text = ofText(true);
    text.complete = target.checked;
    changed();
  });
  byId("clear").addEventListener("click", () => {
    kept = new Map();
    changed();
    say("All marks are gone.");
  });
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => save(button.dataset.download));
  }
  on("source", show);
  on("analysis", show);
}

export function markOf(mention) {
  return ofText(false)?.marks.get(keyOf(mention))?.verdict ?? null;
}

// A second click takes a mark back.
export function mark(mention, right) {
  const found = state.analysis?.mentions.some((other) => keyOf(other) === keyOf(mention));
  const verdict = right ? (found ? "right" : "missing") : "wrong";
  const { marks } = ofText(true);
  const key = keyOf(mention);
  const before = marks.get(key)?.verdict;
  if (before && (before === "wrong") === (verdict === "wrong")) marks.delete(key);
  else marks.set(key, { start: mention.start, end: mention.end, label: mention.label, verdict, words: textOf(mention) });
  say(marks.has(key) ? `${mention.label} marked as ${verdict}.` : `The mark of ${mention.label} is gone.`);
  changed();
}

function ofText(create) {
  const key = keyOfSource();
  if (create && !kept.has(key)) kept.set(key, { source: state.source, marks: new Map(), complete: false });
  return kept.get(key);
}

function changed() {
  for (const [key, { marks, complete }] of kept) if (!marks.size && !complete) kept.delete(key);
  try {
    const all = [...kept.values()].map((text) => ({ ...text, marks: [...text.marks.values()] }));
    localStorage.setItem(storeName, JSON.stringify(all));
  } catch { /* no room, or not allowed: the marks live as long as the page */ }
  tell();
}

function tell() {
  show();
  for (const call of listeners) call();
}

function load() {
  kept = new Map();
  try {
    for (const text of JSON.parse(localStorage.getItem(storeName)) ?? []) {
      kept.set(JSON.stringify(text.source), { ...text, marks: new Map(text.marks.map((each) => [keyOf(each), each])) });
    }
  } catch { /* nothing that can be read */ }
}

function show() {
  const own = ofText(false);
  const marks = [...(own?.marks.values() ?? [])].sort((a, b) => a.start - b.start || b.end - a.end);
  byId("marks").replaceChildren(...marks.map((each) => make("li", {},
    make("button", { type: "button", class: "quiet", onclick: () => select({ start: each.start, end: each.end }) },
      make("b", { class: each.verdict }, { right: "✓ right", wrong: "✗ wrong", missing: "+ missing" }[each.verdict]), " ",
      labelTag(each.label, colorOf(each.label)), " ", make("span", { dir: "auto" }, each.words)),
    make("button", { type: "button", class: "quiet", "aria-label": `Remove the mark of ${each.label} ${each.words}`,
      onclick: () => mark(each, each.verdict !== "wrong") }, "×"))));
  byId("complete").checked = own?.complete ?? false;
  const total = [...kept.values()].reduce((sum, text) => sum + text.marks.size, 0);
  byId("corrections-none").hidden = marks.length > 0;
  byId("corrections-count").textContent = kept.size ? `${counted(total, "mark")} in ${counted(kept.size, "text")}` : "";
  byId("clear").hidden = kept.size === 0;
  for (const button of document.querySelectorAll("[data-download]")) button.disabled = kept.size === 0;
}

async function save(format) {
  const texts = [...kept.values()].map(({ source, marks, complete }) => ({
    source, complete, marks: [...marks.values()].map(({ start, end, label, verdict }) => ({ start, end, label, verdict })),
  }));
  try {
    const blob = await download("/api/corrections", { texts, format });
    const address = URL.createObjectURL(blob);
    const link = make("a", { href: address, download: `corrections.${format}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    say(`Saved corrections.${format}.`);
  } catch (error) {
    showProblem(error);
  }
}
