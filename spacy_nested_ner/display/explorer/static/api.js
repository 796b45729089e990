// Requests to the server. On a channel, only the latest request counts: those before it are abandoned.

import { byId } from "./dom.js";
import { request, state } from "./store.js";

const running = new Map();
let pending = 0;
let timer;

class Abandoned extends Error {}
export const isAbandoned = (error) => error instanceof Abandoned || error.name === "AbortError";

export async function ask(channel, path, body) {
  running.get(channel)?.abort();
  const controller = new AbortController();
  running.set(channel, controller);
  busy(1);
  try {
    const response = await send(path, body, controller.signal);
    const answer = await response.json();
    if (running.get(channel) !== controller) throw new Abandoned();
    if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
    return answer;
  } finally {
    busy(-1);
    if (running.get(channel) === controller) running.delete(channel);
  }
}

// About the text on the page. When another text has come meanwhile, nobody wants the answer.
export async function askAboutText(channel, path, more) {
  const { source } = state;
  try {
    return await ask(channel, path, request(more));
  } finally {
    if (source !== state.source) throw new Abandoned();
  }
}

export async function download(path, body) {
  busy(1);
  try {
    const response = await send(path, body);
    if (!response.ok) throw new Error((await response.json()).error);
    return await response.blob();
  } finally {
    busy(-1);
  }
}

async function send(path, body, signal) {
  const options = body === undefined ? { signal } : {
    signal, method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    return await fetch(path, options);
  } catch (error) {
    if (isAbandoned(error)) throw error;
    throw new Error("The explorer does not answer. Is it still running in its terminal?");
  }
}

// A line at the top moves while something takes long.
function busy(change) {
  pending += change;
  clearTimeout(timer);
  timer = setTimeout(() => {
    byId("working").hidden = pending === 0;
    document.documentElement.toggleAttribute("data-busy", pending > 0);
  }, pending ? 150 : 0);
}

export function showProblem(error) {
  if (error && isAbandoned(error)) return;
  const place = byId("problem");
  place.textContent = error ? error.message : "";
  place.hidden = !error;
}

export function say(text) {
  byId("status").textContent = text;
}
