// The three decoders side by side, where they differ.

import { askAboutText, showProblem } from "./api.js";
import { byId, counted, drawingFrom, make } from "./dom.js";
import { headsIn, startRoving } from "./roving.js";
import { state } from "./store.js";
import { exponential } from "./view.js";

const NAMES = { flat: "Flat", quadratic: "Quadratic", cubic: "Cubic" };

export async function refreshComparison() {
  let found;
  try {
    found = await askAboutText("look", "/api/comparison");
  } catch (error) {
    showProblem(error);
    return;
  }
  const { decoders, differing, stretches, left_out: left } = found;
  byId("compare-table").tBodies[0].replaceChildren(...decoders.map((row) => make(
    "tr", { class: row.decoder === state.settings.decoder ? "current" : "" },
    make("th", { scope: "row" }, NAMES[row.decoder]), make("td", {}, String(row.mentions)), make("td", {}, String(row.only)),
    make("td", {}, exponential(row.log_probability)), make("td", {}, row.entropy.toFixed(1)),
  )));
  byId("compare-note").textContent = !state.analysis.tokens.length ? "" : differing
    ? `${counted(differing, "mention")} found by some decoders only, with a heavy frame.`
    : "All three decoders find the same mentions.";
  byId("compare-drawings").replaceChildren(
    ...stretches.map((stretch) => side(stretch, decoders, stretches.length + left > 1)),
    left ? make("p", { class: "note" }, `They differ in ${counted(left, "more part")} of the text.`) : "",
  );
}

function side({ start, end, drawings, differing }, decoders, named) {
  return make("div", { class: "compared" },
    named ? make("h3", {}, `Words ${start + 1} to ${end}`) : null,
    ...drawings.map((html, place) => make("figure", { class: decoders[place].decoder === state.settings.decoder ? "current" : "" },
      make("figcaption", {}, NAMES[decoders[place].decoder]), markDiffering(drawingFrom(html), differing))));
}

// Mentions that only some analyses have get a frame, and say so.
export function markDiffering(drawing, differing) {
  const wanted = new Set(differing.map((mention) => JSON.stringify(mention)));
  for (const head of headsIn(drawing)) {
    const { start, end, label, mention } = head.dataset;
    if (!wanted.has(JSON.stringify([Number(start), Number(end), label]))) continue;
    for (const cell of drawing.querySelectorAll(`[data-mention="${mention}"]`)) cell.classList.add("differs");
    head.setAttribute("aria-label", `${head.getAttribute("aria-label")}; differs`);
  }
  return startRoving(drawing);
}
