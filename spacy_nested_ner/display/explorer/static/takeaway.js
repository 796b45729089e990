// The view as a link, as JSON, in brackets and as Python code.

import { ask, say, showProblem } from "./api.js";
import { byId } from "./dom.js";
import { link, rememberLink, request } from "./store.js";

const NAMES = { link: "Link", json: "JSON", brackets: "Bracket notation", python: "Python code" };

export function startTakeaway() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button));
  }
  byId("copy-close").addEventListener("click", () => byId("copy-dialog").close());
}

async function copy(button) {
  const kind = button.dataset.copy;
  try {
    if (kind === "link" && !rememberLink()) throw new Error("The text is too long for a link. Copy it as JSON instead.");
    const text = kind === "link"
      ? location.origin + location.pathname + link()
      : (await ask("export", "/api/export", request({ format: kind }))).text;
    showProblem(null);
    await toClipboard(text, kind);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1200);
  } catch (error) {
    showProblem(error);
  }
}

async function toClipboard(text, kind) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${NAMES[kind]} copied.`);
  } catch {
    // Not allowed here: browsers want https, or this machine. Then the user copies.
    byId("copy-title").textContent = NAMES[kind];
    byId("copy-text").value = text;
    byId("copy-dialog").showModal();
    byId("copy-text").select();
  }
}
