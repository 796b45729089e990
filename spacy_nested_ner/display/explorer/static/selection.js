// The selected span: its labels with verdicts, and what else was likely there.

import { askAboutText, showProblem } from "./api.js";
import { mark, markOf, onMarks } from "./corrections.js";
import { byId, labelTag, make, oneAtATime, percent, probabilityBar } from "./dom.js";
import { character, colorOf, offset, on, select, state, textOf } from "./store.js";

const RELATIONS = { "same span": "", inside: "inside", around: "around it", crosses: "crosses it" };
let answer = null;
let answered = null; // the span that it is about

export function startSelection() {
  for (const event of ["selected", "analysis"]) {
    on(event, () => {
      showSelected();
      refreshSelection();
    });
  }
  onMarks(showLabels);
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    find(byId("find-words").value);
  });
}

function showSelected() {
  const { selected } = state;
  byId("selected-none").hidden = Boolean(selected);
  byId("selected-body").hidden = !selected;
  if (selected) byId("selected-text").textContent = textOf(selected);
  byId("selected-answer").inert = selected !== answered; // what is there is about another span
}

const refreshSelection = oneAtATime("selected", async () => {
  const { selected } = state;
  if (!selected) return;
  let found;
  try {
    found = await askAboutText("alternatives", "/api/alternatives", { start: selected.start, end: selected.end });
  } catch (error) {
    showProblem(error);
    return;
  }
  if (selected !== state.selected) return; // another one since then
  [answer, answered] = [found, selected];
  byId("selected-answer").inert = false;
  showLabels();
  showAlternatives();
});

function showLabels() {
  const { selected } = state;
  if (!selected || selected !== answered) return;
  const focused = document.activeElement?.dataset?.verdict;
  byId("selected-labels").replaceChildren(...answer.probabilities.map(([label, probability]) => {
    const mention = { ...selected, label };
    const found = state.analysis.mentions.some((m) => m.start === selected.start && m.end === selected.end && m.label === label);
    const verdict = markOf(mention);
    const button = (right, sign, name) => make("button", {
      type: "button", class: `verdict ${right ? "yes" : "no"}`, "data-verdict": `${label} ${name}`, title: name,
      "aria-label": `${label} is ${name}`, "aria-pressed": String(Boolean(verdict) && (verdict !== "wrong") === right),
      onclick: () => mark(mention, right),
    }, sign);
    return make("tr", { class: found ? "found" : "" },
      make("th", { scope: "row" }, labelTag(label, colorOf(label))),
      make("td", {}, probabilityBar(probability, colorOf(label)), make("span", { class: "number" }, percent(probability))),
      make("td", {}, button(true, "✓", found ? "right" : "missing"), button(false, "✗", "wrong")));
  }));
  if (focused) [...byId("selected-labels").querySelectorAll("button")].find((each) => each.dataset.verdict === focused)?.focus();
}

function showAlternatives() {
  const { start, end } = state.selected;
  const others = answer.alternatives.filter((other) => other.start !== start || other.end !== end);
  byId("alternatives").replaceChildren(...others.map((other) => make("li", {}, make(
    "button", { type: "button", class: `quiet ${other.found ? "found" : ""}`, onclick: () => select({ start: other.start, end: other.end }) },
    make("span", { class: "number" }, percent(other.probability)), labelTag(other.label, colorOf(other.label)),
    make("span", { dir: "auto", class: "words" }, other.text), make("small", {}, RELATIONS[other.relation], other.found ? ", found" : ""),
  ))));
  if (!others.length) byId("alternatives").append(make("li", { class: "note" }, "Nothing else with at least 1%."));
}

// The next place with these words after what is selected.
function find(words) {
  const { text, tokens } = state.analysis ?? {};
  const result = byId("find-result");
  const wanted = words.trim();
  if (!wanted || !tokens?.length) {
    result.textContent = !wanted ? "Type words of the text." : tokens ? "There is no text." : "The text is still being analyzed.";
    return;
  }
  const lower = text.toLowerCase().length === text.length ? text.toLowerCase() : text;
  const from = state.selected ? offset(text, tokens[state.selected.start][0]) + 1 : 0;
  const again = lower === text ? wanted : wanted.toLowerCase();
  let place = lower.indexOf(again, from);
  if (place < 0) place = lower.indexOf(again);
  if (place < 0) {
    result.textContent = "These words are not in the text.";
    return;
  }
  const begin = character(text, place);
  const stop = character(text, place + again.length);
  const start = tokens.findIndex(([, end]) => end > begin);
  const end = tokens.findLastIndex(([first]) => first < stop) + 1;
  result.textContent = "";
  select({ start, end });
}
