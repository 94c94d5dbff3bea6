// Drawing of the SDK's own charts. Vega interprets expressions (AST mode), so no code is evaluated.

import { darkened, night } from "./colours.js";
import { inWords, knownNames, named } from "./names.js";
import { fetchPatiently } from "./patience.js";

const here = new URL("./vendor/", import.meta.url);
let loaded;

function load(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(name, here);
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
}

async function libraries() {
  await load("vega.min.js");
  await load("vega-lite.min.js");
  await load("vega-embed.min.js");
}

// In dark mode a chart is drawn twice: for the screen, and in black on white for paper.
export async function draw(figure) {
  const plot = figure.querySelector(".plot");
  const busy = figure.querySelector("[data-busy]");
  try {
    loaded ??= libraries();
    const spec = await specification(figure);
    await loaded;
    plot.setAttribute("aria-label", spec.description);
    await show(figure, plot, spec);
    night.addEventListener("change", () => show(figure, plot, spec));
    busy?.remove();
  } catch (error) {
    // Another question has replaced this one, so nobody waits for its chart.
    if (!figure.isConnected) return;
    if (busy) busy.textContent = "The chart could not be drawn. Reload the page.";
    throw error;
  }
}

async function show(figure, plot, spec) {
  delete figure.dataset.drawn;
  const dark = night.matches;
  const places = dark ? ["screen", "paper"] : ["both"];
  const drawn = places.map((name) => {
    const place = document.createElement("div");
    place.className = name;
    return place;
  });
  plot.replaceChildren(...drawn);
  for (const place of drawn) await embed(place, place.className === "screen" ? darkened(spec) : spec);
  if (dark === night.matches) figure.dataset.drawn = dark ? "dark" : "light";
}

const embed = (place, spec) =>
  window.vegaEmbed(place, spec, {
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: false,
    renderer: "canvas",
  });

async function specification(figure) {
  const { source, audience } = figure.dataset;
  if (source) {
    const response = await fetchPatiently(source, "application/json", () => figure.isConnected);
    if (!response.ok) throw new Error((await response.json()).detail);
    return response.json();
  }
  const names = knownNames(audience);
  const spec = named(JSON.parse(figure.querySelector("script").textContent), names);
  spec.description = inWords(spec.description, names);
  return spec;
}
