// The page: loads the facts about the model, and lets its parts know of each other.

import { ask, showProblem } from "./api.js";
import { refreshComparison } from "./compare.js";
import { startCorpus } from "./corpus.js";
import { startCorrections } from "./corrections.js";
import { byId, counted, debounce, make, oneAtATime, tabs } from "./dom.js";
import { refreshHeatMap, startHeatMap } from "./heatmap.js";
import { refreshOthers } from "./others.js";
import { startSelection } from "./selection.js";
import { startSettings } from "./settings.js";
import { emit, on, readLink, rememberLink, select, setSource, state } from "./store.js";
import { startTakeaway } from "./takeaway.js";
import { refresh, startView } from "./view.js";

const TYPING = 150; // milliseconds
const MOVING = 25;
const LOOKING = 120; // after the drawing, which comes first
const EXAMPLES = [
  "A lawyer for the wife of the president of France arrived at the airport of Lima.",
  "The owner of the ferry and the harbor called the police.",
  "The captain of the navy of Norway, whose brother sails a tanker, met the mayor of the port of Saltmere.",
];
const LOOKS = { "tab-compare": refreshComparison, "tab-heat": refreshHeatMap, "tab-others": refreshOthers };

let chooseSource;
let chooseLook;

async function start() {
  try {
    state.facts = await ask("model", "/api/model");
  } catch (error) {
    showProblem(error);
    return;
  }
  showFacts();
  const linked = readLink();
  state.settings = linked.settings;
  startView();
  startSelection();
  startCorrections();
  startHeatMap();
  startTakeaway();
  startSettings();
  startText();
  chooseSource = tabs(byId("source-tabs"), () => {});
  chooseLook = tabs(byId("look-tabs"), (id) => {
    state.look = id;
    showStretch();
    look();
    rememberLater();
  });
  on("source", refresh);
  on("settings", debounce(MOVING, refresh, "view"));
  on("analysis", () => {
    showStretch();
    lookLater();
    rememberLater();
  });
  on("stretch", () => {
    showStretch();
    look();
  });
  on("selected", rememberLater);
  byId("stretch-previous").addEventListener("click", () => move(-1));
  byId("stretch-next").addEventListener("click", () => move(1));
  startCorpus();
  chooseLook(linked.look ?? "tab-compare");
  await firstView(linked);
  // A link to another view, opened in this tab. The link that skips to the mentions leads to no other view.
  addEventListener("hashchange", () => {
    if (readLink().source) location.reload();
  });
  document.documentElement.dataset.ready = "yes";
}

async function firstView({ source, selected }) {
  const first = source ?? (state.facts.corpus ? await firstSentence() : { text: state.facts.model === "sample" ? EXAMPLES[0] : "" });
  if (first.sentence !== undefined) chooseSource("tab-corpus");
  setSource(first);
  if (selected) {
    const once = () => {
      if (state.analysis && !state.selected && selected.end <= state.analysis.tokens.length) select(selected);
    };
    await new Promise((resolve) => {
      let waiting = true;
      on("analysis", () => {
        if (waiting) once();
        waiting = false;
        resolve();
      });
    });
  }
}

// The corpus is scored in the background; its first sentence is ready soon.
async function firstSentence() {
  for (let tries = 0; tries < 100; tries += 1) {
    const { state: corpus } = await ask("first", "/api/sentences?limit=0");
    if (corpus.sentences) return { sentence: 0 };
    if (corpus.failure || corpus.documents === corpus.scored) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { text: "" };
}

function showFacts() {
  const { model, component, labels, lang, span_limit: limit, corpus } = state.facts;
  const facts = [model, component, lang, counted(labels.length, "label"), limit && `mentions of up to ${counted(limit, "token")}`, corpus?.name];
  byId("facts").textContent = facts.filter(Boolean).join(" · ");
  document.title = `${model} · nested mentions`;
  byId("examples").hidden = model !== "sample";
  byId("examples").append(...EXAMPLES.map((text, place) => make(
    "button", { type: "button", class: "quiet", title: text, onclick: () => setSource({ text }) }, `example ${place + 1}`,
  )));
}

function startText() {
  const area = byId("text");
  area.addEventListener("input", debounce(TYPING, () => setSource({ text: area.value }), "view"));
  on("source", () => {
    const { text } = state.source;
    if (text !== undefined && area.value !== text) area.value = text;
  });
}

const rememberLater = debounce(300, rememberLink);
const look = oneAtATime("look", async () => {
  if (state.analysis) await LOOKS[state.look]();
});
const lookLater = debounce(LOOKING, look, "look");

function move(step) {
  if (!state.analysis) return;
  state.stretch = Math.max(0, Math.min(state.analysis.stretches.length - 1, state.stretch + step));
  emit("stretch");
}

function showStretch() {
  const stretches = state.analysis?.stretches ?? [];
  byId("stretch").hidden = stretches.length < 2 || state.look === "tab-compare";
  if (stretches.length < 2) return;
  const [start, end] = stretches[state.stretch];
  byId("stretch-name").textContent = `Words ${start + 1} to ${end} of ${state.analysis.tokens.length.toLocaleString("en")}`;
  byId("stretch-previous").disabled = state.stretch === 0;
  byId("stretch-next").disabled = state.stretch === stretches.length - 1;
}

start();
