// The corpus: a list of sentences that fit the filters, and steps through it.

import { ask, showProblem } from "./api.js";
import { byId, changing, counted, debounce, make } from "./dom.js";
import { on, setSource, state } from "./store.js";

const PAGE = 40;
const POLL = 400; // milliseconds
let rows = [];
let total = 0;
let done = false;

export function startCorpus() {
  const { corpus } = state.facts;
  byId("no-corpus").hidden = Boolean(corpus);
  byId("corpus").hidden = !corpus;
  if (!corpus) return;
  for (const element of document.querySelectorAll("[data-gold]")) element.hidden = !corpus.has_gold;
  byId("filter-label").append(...state.facts.labels.map(({ name }) => make("option", { value: name }, name)));
  for (const name of ["filter-label", "filter-error", "filter-order"]) byId(name).addEventListener("change", () => load());
  byId("filter-entropy").addEventListener("input", debounce(200, () => load(), "corpus"));
  byId("more").addEventListener("click", () => load(rows.length));
  byId("previous").addEventListener("click", () => step("previous"));
  byId("next").addEventListener("click", () => step("next"));
  byId("next-error").addEventListener("click", () => step("next", "any"));
  on("source", showCurrent);
  on("settings", showFound);
  load();
}

function query(more = {}) {
  const wanted = {
    label: byId("filter-label").value, error: byId("filter-error").value, order: byId("filter-order").value,
    entropy: byId("filter-entropy").checkValidity() ? byId("filter-entropy").value || 0 : 0, ...more,
  };
  return `/api/sentences?${new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== "" && value != null))}`;
}

function load(offset = 0) {
  return changing("corpus", () => loadFrom(offset));
}

async function loadFrom(offset) {
  let found;
  try {
    found = await ask("sentences", query({ offset, limit: PAGE }));
  } catch (error) {
    showProblem(error);
    return;
  }
  rows = offset ? [...rows, ...found.rows] : found.rows;
  total = found.total;
  show();
  showProgress(found.state);
}

function showProgress({ documents, scored, failure }) {
  done = scored >= documents || Boolean(failure);
  byId("corpus-progress").hidden = done;
  byId("corpus-bar").value = documents ? scored / documents : 1;
  byId("corpus-bar-text").textContent = `Scoring the corpus: ${scored.toLocaleString("en")} of ${counted(documents, "document")}`;
  if (failure) showProblem(new Error(failure));
  // While the user has gone on in the list, it is left as it is.
  if (!done) setTimeout(() => (rows.length <= PAGE ? load() : load(rows.length)), POLL);
}

function show() {
  byId("sentences").replaceChildren(...rows.map((row) => make("li", {}, make(
    "button", { type: "button", class: "quiet sentence", "data-number": row.number, onclick: () => setSource({ sentence: row.number }) },
    make("span", { class: "words", dir: "auto" }, row.text),
    make("small", {}, [row.where, errorsOf(row), `entropy ${row.entropy.toFixed(1)}`].filter(Boolean).join(" · ")),
  ))));
  byId("more").hidden = rows.length >= total;
  showFound();
  showCurrent();
}

// The list is made once; the settings on the page may be others by now.
function showFound() {
  const own = Object.entries(state.facts.settings).every(([name, value]) => state.settings[name] === value);
  byId("found").textContent = counted(total, "sentence") + (own ? "" : "; errors and entropies in the list: with the model's own settings");
}

function errorsOf({ errors }) {
  const number = Object.values(errors).reduce((sum, each) => sum + each, 0);
  return number ? counted(number, "error") : "";
}

function showCurrent() {
  for (const button of byId("sentences").querySelectorAll("button")) {
    const current = Number(button.dataset.number) === state.source.sentence;
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    // Not scrollIntoView, which would move the page, too.
    if (current) byId("sentences").scrollTop = button.offsetTop - byId("sentences").clientHeight / 2;
  }
}

function step(direction, error) {
  return changing("corpus", () => stepTo(direction, error));
}

async function stepTo(direction, error) {
  const more = { limit: 0, around: state.source.sentence ?? "" };
  if (error && !byId("filter-error").value) more.error = error;
  try {
    const found = await ask("step", query(more));
    if (found[direction] == null) byId("found").textContent = direction === "next" ? "That was the last one." : "That was the first one.";
    else setSource({ sentence: found[direction] });
  } catch (problem) {
    showProblem(problem);
  }
}
