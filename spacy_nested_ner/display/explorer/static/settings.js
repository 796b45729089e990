// The decoder, threshold and temperature. Moving a slider decodes again at once; the scores stay on the server.

import { byId, percent } from "./dom.js";
import { emit, on, setSettings, state } from "./store.js";

const FIRST_THRESHOLD = 0.5;

export function startSettings() {
  for (const radio of document.getElementsByName("decoder")) {
    radio.addEventListener("change", () => setSettings({ decoder: radio.value }));
  }
  byId("max-short-child").addEventListener("input", ({ target }) => {
    if (target.checkValidity() && target.value) setSettings({ max_short_child: Number(target.value) });
  });
  byId("multi-label").addEventListener("change", ({ target }) => setSettings({ multi_label: target.checked }));
  byId("threshold").addEventListener("input", ({ target }) => setSettings({ threshold: Number(target.value) }));
  byId("best").addEventListener("change", ({ target }) => {
    setSettings({ threshold: target.checked ? null : Number(byId("threshold").value) });
  });
  byId("temperature").addEventListener("input", ({ target }) => {
    setSettings({ temperature: Number((10 ** Number(target.value)).toPrecision(3)) });
  });
  byId("reset").addEventListener("click", () => setSettings({ ...state.facts.settings }));
  byId("max-short-child").max = state.facts.max_short_child;
  on("settings", show);
  emit("settings");
}

function show() {
  const { decoder, max_short_child, multi_label, threshold, temperature } = state.settings;
  for (const radio of document.getElementsByName("decoder")) radio.checked = radio.value === decoder;
  const short = byId("max-short-child");
  if (document.activeElement !== short) short.value = max_short_child;
  short.disabled = decoder !== "quadratic";
  byId("multi-label").checked = multi_label;
  byId("best").checked = threshold === null;
  const slider = byId("threshold");
  if (threshold !== null) slider.value = threshold;
  else if (!slider.dataset.touched) slider.value = FIRST_THRESHOLD;
  slider.dataset.touched = "yes";
  slider.setAttribute("aria-valuetext", threshold === null ? "not used" : percent(threshold));
  byId("threshold-value").textContent = threshold === null ? "off" : threshold.toFixed(2);
  slider.classList.toggle("off", threshold === null);
  const warmth = byId("temperature");
  warmth.value = Math.log10(temperature);
  warmth.setAttribute("aria-valuetext", temperature.toPrecision(3));
  byId("temperature-value").textContent = String(Number(temperature.toPrecision(3)));
  const own = Object.entries(state.facts.settings).every(([name, value]) => state.settings[name] === value);
  byId("reset").disabled = own;
}
