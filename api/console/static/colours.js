// Colours for dark mode. Charts are specified for white paper; here they get the page's colours.
// Black becomes light. Groups keep their hues (Okabe and Ito's), with the dark ones made lighter.

const DARK = {
  black: "#e6eaee",
  white: "#14181d",
  "#0072B2": "#56B4E9",
  "#D55E00": "#FF8A3D",
  "#009E73": "#2FC79A",
  "#CC79A7": "#E8A0C8",
  "#333333": "#c8d0d8",
  "#555555": "#a3adb8",
  "#666666": "#a3adb8",
  "#777777": "#8a949e",
  "#999999": "#8a949e",
  "#bbbbbb": "#5a646e",
  "#dddddd": "#333c45",
  "#e4e4e4": "#2c343c",
};
const INK = DARK.black;
const LINES = { labelColor: INK, titleColor: INK, tickColor: "#5a646e", domainColor: "#5a646e" };

export const night = matchMedia("(prefers-color-scheme: dark)");

// Return a copy of a specification in the colours of dark mode.
export function darkened(spec) {
  const made = recoloured(spec);
  const config = made.config ?? {};
  made.config = {
    ...config,
    background: "transparent",
    axis: { ...config.axis, ...LINES },
    legend: { ...config.legend, labelColor: INK, titleColor: INK },
    header: { ...config.header, labelColor: INK, titleColor: INK },
    title: { ...config.title, color: INK, subtitleColor: INK },
    text: { ...config.text, color: INK },
    rule: { ...config.rule, color: config.rule?.color ?? INK },
  };
  return made;
}

// Text in other members is not a colour, even if it reads like one: a group may be called black.
const COLOUR = /^(background|fill|stroke|range)$|color$/i;

function recoloured(value, name = "", parent = "") {
  if (typeof value === "string") {
    const told = COLOUR.test(name) || (name === "value" && COLOUR.test(parent));
    return (told && DARK[value]) || value;
  }
  if (Array.isArray(value)) return value.map((each) => recoloured(each, name, parent));
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, each]) => [key, recoloured(each, key, name)]));
}
