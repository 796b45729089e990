// The analyses that compete with the one on the page.

import { askAboutText, showProblem } from "./api.js";
import { markDiffering } from "./compare.js";
import { byId, drawingFrom, finePercent, labelTag, make, probabilityBar } from "./dom.js";
import { colorOf, state } from "./store.js";

const NAMED = 3; // mentions of each kind

export async function refreshOthers() {
  const [start, end] = state.analysis.stretches[state.stretch] ?? [0, 0];
  if (end === start) {
    byId("others").replaceChildren();
    byId("others-note").textContent = "";
    return;
  }
  let found;
  try {
    found = await askAboutText("look", "/api/competitors", { start, end });
  } catch (error) {
    showProblem(error);
    return;
  }
  const given = found.on_its_own ? ", given that no mention crosses the borders of this part" : "";
  byId("others-note").textContent =
    `The most probable of ${found.samples.toLocaleString("en")} analyses drawn with exactly their probability${given}. ` +
    "Differences from the one on the page have a heavy frame.";
  byId("others").replaceChildren(...found.analyses.map((other, place) => make("li", { class: place ? "" : "current" },
    make("div", { class: "heading" },
      place ? make("span", { class: "changes" }, ...changes("with", other.added), ...changes("without", other.removed))
        : make("b", {}, "On the page"),
      make("span", { class: "probability" }, probabilityBar(other.probability), make("span", { class: "number" }, finePercent(other.probability)))),
    markDiffering(drawingFrom(other.drawing), other.differing))));
}

function changes(word, mentions) {
  const named = mentions.slice(0, NAMED).map(([label, text]) => make("span", { class: "change" },
    `${word} `, labelTag(label, colorOf(label)), " ", make("bdi", {}, text)));
  return mentions.length > NAMED ? [...named, `${word} ${mentions.length - NAMED} more`] : named;
}
