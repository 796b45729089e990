// The drawing of the text, with everything that can be done to its mentions.

import { askAboutText, say, showProblem } from "./api.js";
import { markOf, onMarks } from "./corrections.js";
import { byId, counted, drawingFrom, finePercent, labelTag, make, oneAtATime } from "./dom.js";
import { headsIn, scrollTo, startRoving, stopAt } from "./roving.js";
import { character, colorOf, emit, on, select, state } from "./store.js";

const KINDS = { missed: "missed", spurious: "spurious", label: "wrong label", boundary: "wrong boundary" };

export function startView() {
  const place = byId("drawing");
  place.addEventListener("click", (event) => {
    if (!getSelection().isCollapsed) return;
    const head = headOf(event.target);
    if (head) select(spanOf(head));
  });
  place.addEventListener("keydown", onKey);
  startRoving(place);
  document.addEventListener("selectionchange", rememberSelection);
  place.addEventListener("pointerup", () => setTimeout(selectWords, 0));
  on("source", () => { place.inert = true; }); // until its own drawing comes
  on("selected", () => {
    showSelection();
    scrollToSelection();
  });
  onMarks(showMarks);
}

export const refresh = oneAtATime("view", async () => {
  try {
    state.analysis = await askAboutText("analysis", "/api/analysis");
  } catch (error) {
    showProblem(error);
    return;
  }
  showProblem(null);
  draw();
  emit("analysis");
});

let drawnSource = null;

function draw() {
  const { analysis } = state;
  const place = byId("drawing");
  const focused = place.contains(document.activeElement) ? { ...document.activeElement.dataset } : null;
  if (state.selected && state.selected.end > analysis.tokens.length) state.selected = null;
  if (state.stretch >= analysis.stretches.length) state.stretch = 0;
  const scrolled = state.source === drawnSource ? place.scrollTop : 0;
  drawnSource = state.source;
  showParts(place, analysis.parts);
  place.inert = false;
  place.classList.toggle("empty", analysis.tokens.length === 0);
  place.classList.toggle("long", analysis.parts.length > 1);
  place.tabIndex = analysis.parts.length > 1 ? 0 : -1; // so that keys can scroll it
  place.scrollTop = scrolled;
  showSelection();
  showMarks();
  showSummary();
  showLegend();
  showErrors();
  const all = heads();
  const again = focused && all.find((head) => same(head, focused));
  stopAt(place, again ?? all.find((head) => head.classList.contains("picked")) ?? all[0]);
  again?.focus({ preventScroll: true });
}

// A long text has many parts. Those that stay the same are not touched.
function showParts(place, parts) {
  const old = new Map([...place.children].map((part) => [`${part.dataset.first} ${part.html}`, part]));
  place.replaceChildren(...parts.map(({ start, drawing }) => {
    const key = `${start} ${drawing}`;
    return old.get(key) ?? makePart(start, drawing, parts.length > 1);
  }));
}

function makePart(start, html, several) {
  const part = make("div", { class: several ? "part several" : "part", "data-first": start }, drawingFrom(html));
  part.html = html;
  for (const head of headsIn(part)) {
    head.tabIndex = -1;
    head.dataset.start = Number(head.dataset.start) + start;
    head.dataset.end = Number(head.dataset.end) + start;
  }
  return part;
}

function showSummary() {
  const { mentions, log_probability: log, entropy, tokens, where } = state.analysis;
  const depth = Math.max(0, ...mentions.map((mention) => mention.depth));
  const facts = [
    where, counted(mentions.length, "mention"), mentions.length && `depth ${depth}`, counted(tokens.length, "token"),
    tokens.length && `probability of the whole ${exponential(log)}`, tokens.length && `entropy ${entropy.toFixed(1)} nats`,
  ];
  byId("summary").textContent = facts.filter(Boolean).join(" · ");
  say(`${counted(mentions.length, "mention")} found.`);
}

export const exponential = (log) => (log > -6.9 ? finePercent(Math.exp(log)) : `10^${(log / Math.LN10).toFixed(0)}`);

function showLegend() {
  const counts = new Map();
  for (const { label } of state.analysis.mentions) counts.set(label, (counts.get(label) ?? 0) + 1);
  byId("legend").replaceChildren(...state.facts.labels.map(({ name, color }) => make(
    "li", { class: counts.has(name) ? "" : "absent" }, labelTag(name, color), ` ${counts.get(name) ?? 0}`,
  )));
}

function showErrors() {
  const { gold, errors } = state.analysis;
  const place = byId("errors");
  place.hidden = !gold;
  if (!gold) return;
  const title = errors.length ? `${counted(errors.length, "error")}; gold is above the text` : "No error: the gold above the text is the same";
  const rows = errors.map(({ kind, start, end, gold: right, predicted }) => make(
    "li", {}, make("button", { type: "button", class: "quiet", onclick: () => select({ start, end }) },
      make("b", {}, KINDS[kind]), ` ${[right && `gold ${right}`, predicted && `found ${predicted}`].filter(Boolean).join(", ")}: `,
      make("span", { dir: "auto" }, words(start, end))),
  ));
  place.replaceChildren(make("h3", {}, title), make("ul", { class: "errors" }, ...rows));
}

function words(start, end) {
  const { text, tokens } = state.analysis;
  return [...text].slice(tokens[start][0], tokens[end - 1][1]).join("");
}

// ---- mentions ----

const heads = () => headsIn(byId("drawing"));
const spanOf = (head) => ({ start: Number(head.dataset.start), end: Number(head.dataset.end) });
const same = (head, other) => ["start", "end", "label"].every((name) => head.dataset[name] === other[name]);

function headOf(target) {
  const cell = target.closest?.("[data-mention]");
  return cell && cellsOf(cell).find((each) => each.dataset.start);
}

// The whole bar of a mention.
function cellsOf(cell) {
  return [...cell.closest(".part").querySelectorAll(`[data-mention="${cell.dataset.mention}"]`)];
}

function onKey(event) {
  const head = event.target.closest("[data-start]");
  if (!head) return;
  if (event.key === "Enter" || event.key === " ") select(spanOf(head));
  else if (event.key === "Escape") select(null);
  else return;
  event.preventDefault();
}

function showSelection() {
  const { selected } = state;
  for (const cell of byId("drawing").querySelectorAll(".picked")) cell.classList.remove("picked");
  if (!selected) return;
  for (const head of heads()) {
    const { start, end } = spanOf(head);
    if (start !== selected.start || end !== selected.end) continue;
    for (const cell of cellsOf(head)) cell.classList.add("picked");
  }
}

// A long text scrolls in its frame; the page itself stays where it is.
function scrollToSelection() {
  const { selected } = state;
  const place = byId("drawing");
  if (!selected || !place.classList.contains("long")) return;
  scrollTo(place, [...place.children].findLast((part) => Number(part.dataset.first) <= selected.start));
  scrollTo(place, place.querySelector(".picked"));
}

function showMarks() {
  for (const head of heads()) {
    if (head.dataset.mention.startsWith("g")) continue; // gold
    const mark = markOf({ ...spanOf(head), label: head.dataset.label });
    if (!mark && !head.dataset.name) continue; // and never had one
    for (const cell of cellsOf(head)) {
      cell.classList.toggle("marked-right", mark === "right" || mark === "missing");
      cell.classList.toggle("marked-wrong", mark === "wrong");
    }
    head.dataset.name ??= head.getAttribute("aria-label");
    head.setAttribute("aria-label", head.dataset.name + (mark ? `; marked as ${mark}` : ""));
  }
}

// ---- selecting words ----

let lastRange = null;

function rememberSelection() {
  const selection = getSelection();
  if (!selection.isCollapsed && byId("drawing").contains(selection.anchorNode)) lastRange = selection.getRangeAt(0);
}

function selectWords() {
  const selection = getSelection();
  if (selection.isCollapsed || !lastRange || !state.analysis) return;
  const root = byId("drawing");
  if (!root.contains(lastRange.startContainer) || !root.contains(lastRange.endContainer)) return;
  const before = document.createRange();
  before.selectNodeContents(root);
  before.setEnd(lastRange.startContainer, lastRange.startOffset);
  const { text, tokens } = state.analysis;
  const from = character(text, before.toString().length);
  const to = character(text, before.toString().length + lastRange.toString().length);
  const touched = tokens.map(([start, end], place) => (start < to && end > from ? place : -1)).filter((place) => place >= 0);
  selection.removeAllRanges();
  if (touched.length) select({ start: touched[0], end: touched.at(-1) + 1 });
}
