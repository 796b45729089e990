// The probabilities of all spans of a part of the text, as a pyramid of cells above its words.

import { askAboutText, showProblem } from "./api.js";
import { byId, labelTag, make, percent } from "./dom.js";
import { colorOf, on, select, state } from "./store.js";

const [NARROWEST, WIDEST, TALLEST] = [15, 34, 330];
const [TURN, LONGEST_WORD] = [Math.PI / 2.6, 14]; // how words are written below the cells
let map = null; // what the server sent; without it, nothing can be pointed at or focused
let cells = new Map();
let size = { width: 0, height: 0, side: 0, longest: 1, words: 0 };
let cursor = null; // { start, end }

// Text from right to left has its first word on the right.
const mirrored = () => document.querySelector("#drawing [dir]")?.dir === "rtl";
const across = (x) => (mirrored() ? size.width - x : x);
const keyOf = (start, end) => `${start}:${end}`;

export function startHeatMap() {
  const canvas = byId("heat");
  canvas.addEventListener("pointermove", (event) => point(at(event), event));
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("click", (event) => {
    const span = at(event);
    if (span) select(span);
  });
  canvas.addEventListener("keydown", onKey);
  canvas.addEventListener("focus", () => cursor || moveTo({ start: map?.start ?? 0, end: (map?.start ?? 0) + 1 }));
  const hint = byId("heat-readout").textContent;
  on("source", () => {
    setMap(null);
    byId("heat-readout").textContent = hint;
  });
  on("selected", () => {
    cursor = state.selected;
    paint();
  });
  new ResizeObserver(paint).observe(byId("heat-frame"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}

export async function refreshHeatMap() {
  const [start, end] = state.analysis.stretches[state.stretch] ?? [0, 0];
  byId("panel-heat").classList.toggle("empty", end === start);
  if (end === start) {
    setMap(null);
    return;
  }
  try {
    setMap(await askAboutText("look", "/api/heat-map", { start, end }));
  } catch (error) {
    showProblem(error);
    return;
  }
  cells = new Map(map.cells.map((cell) => [keyOf(cell.start, cell.end), cell]));
  if (cursor && (cursor.start < start || cursor.end > end)) cursor = null;
  paint();
  showTable();
}

function setMap(found) {
  map = found;
  byId("heat-frame").inert = !map;
}

// ---- painting ----

function paint() {
  const canvas = byId("heat");
  const frame = byId("heat-frame");
  if (!map || !frame.clientWidth) return;
  const n = map.end - map.start;
  const longest = Math.max(3, Math.min(n, 2 + Math.max(0, ...map.cells.map((cell) => cell.end - cell.start))));
  const fits = Math.min(WIDEST, (frame.clientWidth - 24) / n, (2 * TALLEST) / (longest + 1));
  const side = Math.max(NARROWEST, fits);
  const pen = canvas.getContext("2d");
  const font = `${Math.min(14, Math.max(11, side * 0.55))}px system-ui, sans-serif`;
  pen.font = font;
  const widest = Math.max(...map.words.map((word) => pen.measureText(shortened(word)).width));
  const words = Math.ceil(Math.sin(TURN) * widest) + 18;
  const beyond = Math.cos(TURN) * widest; // the last words
  const height = Math.ceil(((longest + 1) * side) / 2) + words;
  size = { side, longest, words, font, height, width: Math.ceil(n * side + beyond / 2) + 4 };
  const scale = devicePixelRatio || 1;
  canvas.width = size.width * scale;
  canvas.height = size.height * scale;
  canvas.style.width = `${size.width}px`;
  canvas.style.height = `${size.height}px`;
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink");
  const line = style.getPropertyValue("--line");
  for (let start = 0; start < n; start += 1) {
    for (let length = 1; length <= longest && start + length <= n; length += 1) diamond(pen, start, length, line);
  }
  for (const cell of map.cells) {
    const [label, probability] = cell.labels[0];
    diamond(pen, cell.start - map.start, cell.end - cell.start, null, labelColor(label), 0.12 + 0.88 * probability);
  }
  for (const { start, end } of state.analysis.mentions) {
    if (start >= map.start && end <= map.end) diamond(pen, start - map.start, end - start, ink, null, 1, 1.6);
  }
  if (cursor && inMap(cursor)) {
    diamond(pen, cursor.start - map.start, cursor.end - cursor.start, style.getPropertyValue("--accent"), null, 1, 3);
  }
  writeWords(pen, ink, style.getPropertyValue("--accent"));
}

const shortened = (word) => (word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD - 1)}…` : word);
const inMap = ({ start, end }) => start >= map.start && end <= map.end && end - start <= size.longest;

function diamond(pen, start, length, line, fill = null, alpha = 1, width = 1) {
  const half = size.side / 2;
  const x = across(2 + (start + length / 2) * size.side);
  const y = size.height - size.words - length * half;
  pen.beginPath();
  pen.moveTo(x, y - half + 1);
  pen.lineTo(x + half - 1, y);
  pen.lineTo(x, y + half - 1);
  pen.lineTo(x - half + 1, y);
  pen.closePath();
  if (fill) {
    pen.globalAlpha = alpha;
    pen.fillStyle = fill;
    pen.fill();
    pen.globalAlpha = 1;
  }
  if (line) {
    pen.lineWidth = width;
    pen.strokeStyle = line;
    pen.stroke();
  }
}

function writeWords(pen, ink, accent) {
  const [chosenStart, chosenEnd] = cursor ? [cursor.start, cursor.end] : [-1, -1];
  pen.font = size.font;
  pen.textBaseline = "middle";
  map.words.forEach((word, place) => {
    const chosen = map.start + place >= chosenStart && map.start + place < chosenEnd;
    pen.save();
    pen.translate(across(2 + (place + 0.5) * size.side), size.height - size.words + 6);
    pen.rotate(mirrored() ? -TURN : TURN);
    pen.textAlign = mirrored() ? "right" : "left";
    pen.fillStyle = chosen ? accent : ink;
    pen.fillText(shortened(word), 0, 0);
    pen.restore();
  });
}

const colors = new Map();
function labelColor(label) {
  const name = colorOf(label);
  if (!colors.has(name)) {
    const probe = labelTag("", name);
    byId("legend").append(make("li", { hidden: true }, probe));
    colors.set(name, getComputedStyle(probe).getPropertyValue("--label").trim() || "#999");
    probe.parentElement.remove();
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? colors.get(name) : deeper(colors.get(name));
}

// The colors of labels are light, for black text. On white, cells need more.
function deeper(color) {
  const parts = [1, 3, 5].map((place) => Number.parseInt(color.slice(place, place + 2), 16));
  if (parts.some(Number.isNaN)) return color;
  const mean = (parts[0] + parts[1] + parts[2]) / 3;
  return `rgb(${parts.map((part) => Math.max(0, Math.round((mean + 2.6 * (part - mean)) * 0.8))).join(" ")})`;
}

// ---- pointing ----

function at(event) {
  if (!map) return null;
  const box = byId("heat").getBoundingClientRect();
  const x = (across(event.clientX - box.left) - 2) / size.side;
  const y = (size.height - size.words - (event.clientY - box.top)) / (size.side / 2);
  // Along the two edges of the pyramid, cells are squares.
  const start = Math.floor(x - y / 2 + 0.5);
  const end = Math.ceil(x + y / 2 - 0.5);
  if (start < 0 || end <= start || end > map.end - map.start || end - start > size.longest) return null;
  return { start: start + map.start, end: end + map.start };
}

function point(span, event) {
  const tip = byId("tip");
  tip.hidden = !span;
  if (!span) return;
  tip.replaceChildren(...describe(span));
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 8))}px`;
}

function describe({ start, end }) {
  const labels = cells.get(keyOf(start, end))?.labels ?? [];
  return [
    make("b", { dir: "auto" }, map.words.slice(start - map.start, end - map.start).join(" ")),
    make("span", {}, labels.length ? labels.map(([label, p]) => `${label} ${percent(p)}`).join(", ") : "no label with at least 0.1%"),
  ];
}

function onKey(event) {
  if (!map) return;
  const { start, end } = cursor ?? { start: map.start, end: map.start + 1 };
  const right = mirrored() ? -1 : 1;
  const moved = {
    ArrowLeft: { start: start - right, end: end - right }, ArrowRight: { start: start + right, end: end + right },
    ArrowUp: { start, end: end + 1 }, ArrowDown: { start, end: end - 1 },
  }[event.key];
  if (moved) {
    if (moved.start >= map.start && moved.end <= map.end && moved.end > moved.start && moved.end - moved.start <= size.longest) moveTo(moved);
  } else if (event.key === "Enter" || event.key === " ") {
    if (cursor) select({ ...cursor });
  } else return;
  event.preventDefault();
}

function moveTo(span) {
  if (!map) return;
  cursor = span;
  paint();
  const [words, labels] = describe(span);
  byId("heat-readout").replaceChildren(words, ": ", labels);
}

function showTable() {
  const best = [...map.cells].sort((a, b) => b.labels[0][1] - a.labels[0][1]).slice(0, 40);
  byId("heat-table").tBodies[0].replaceChildren(...best.map(({ start, end, labels }) => make("tr", {},
    make("th", { scope: "row" }, make("button", { type: "button", class: "quiet", dir: "auto", onclick: () => select({ start, end }) },
      map.words.slice(start - map.start, end - map.start).join(" "))),
    make("td", {}, labels.map(([label, p]) => `${label} ${percent(p)}`).join(", ")))));
}
