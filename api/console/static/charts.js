// Draws the SDK's own charts. Vega interprets its expressions (AST mode): nothing is evaluated.

import { inWords, knownNames, named } from "./names.js";

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

export async function draw(figure) {
  const plot = figure.querySelector(".plot");
  const busy = figure.querySelector("[data-busy]");
  try {
    loaded ??= libraries();
    const spec = await specification(figure);
    await loaded;
    plot.setAttribute("aria-label", spec.description);
    await window.vegaEmbed(plot, spec, {
      ast: true,
      actions: false,
      defaultStyle: false,
      tooltip: false,
      renderer: "canvas",
    });
    figure.dataset.drawn = "yes";
    busy?.remove();
  } catch (error) {
    if (busy) busy.textContent = "It could not be drawn; load the page again.";
    throw error;
  }
}

async function specification(figure) {
  const { source, audience } = figure.dataset;
  if (source) {
    const response = await fetch(source, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error((await response.json()).detail);
    return response.json();
  }
  const names = knownNames(audience);
  const spec = named(JSON.parse(figure.querySelector("script").textContent), names);
  spec.description = inWords(spec.description, names);
  return spec;
}
