// Enhancements of pages. Where possible, every page is complete without JavaScript.

import { inZone } from "./moments.js";
import { inWords, knownNames, nameLabels } from "./names.js";

const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);

// Show times in the reader's own time zone.
export function localTimes(root = document) {
  each("time[datetime]", (time) => {
    time.title = time.dateTime;
    time.textContent = inZone(new Date(time.dateTime));
  }, root);
}

async function drawCharts(root = document) {
  if (!root.querySelector("[data-chart]")) return;
  const { draw } = await import("./charts.js");
  each("[data-chart]", (figure) => draw(figure).then(() => reachable(figure)), root);
}

// Let the keyboard scroll elements that are wider than their place.
function reachable(root = document) {
  each(".scroll, .chart .plot", (wide) => {
    if (wide.scrollWidth <= wide.clientWidth) return wide.removeAttribute("tabindex");
    wide.tabIndex = 0;
    if (wide.hasAttribute("role")) return;
    wide.setAttribute("role", "region");
    const heads = [...wide.querySelectorAll("th")].slice(0, 3).map((head) => head.textContent);
    wide.setAttribute("aria-label", wide.querySelector("caption")?.textContent ?? heads.join(", "));
  }, root);
}

async function enliven(root = document) {
  localTimes(root);
  nameLabels(root);
  await drawCharts(root);
  reachable(root);
}

// Reload the page when the audit has changed its state.
function followProgress(status) {
  const events = new EventSource(status.dataset.progress);
  events.addEventListener("progress", (event) => {
    const { state } = JSON.parse(event.data);
    if (state !== status.dataset.state) {
      events.close();
      location.reload();
    }
  });
}

// Reload a part of the page regularly, while the page is visible and no text is selected.
function refresh(part) {
  const look = async () => {
    if (document.hidden || !getSelection().isCollapsed) return;
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.getElementById(part.id);
    if (!response.ok || !found) return location.reload();
    const focused = part.contains(document.activeElement) ? document.activeElement.href : null;
    localTimes(found);
    part.replaceChildren(...found.childNodes);
    reachable(part);
    [...part.querySelectorAll("a")].find((link) => link.href === focused)?.focus();
  };
  setInterval(look, 1000 * part.dataset.refresh);
  document.addEventListener("visibilitychange", look);
}

// Put the names of groups, which only this browser knows, into downloaded files.
const NAMED = {
  receipt: (text, names) => JSON.stringify({ ...JSON.parse(text), names }, null, 1),
  csv: (text, names) => text.replace(/^"(g\d+)"/gm, (_, label) => quoted(names[label] ?? label)),
  report: namedReport,
};

function nameDownload(link) {
  const names = knownNames(link.dataset.audience);
  if (!Object.keys(names).length) return;
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const text = await (await fetch(link.href)).text();
    const made = document.createElement("a");
    made.href = URL.createObjectURL(new Blob([NAMED[link.dataset.names](text, names)]));
    made.download = link.pathname.split("/").pop();
    made.click();
    URL.revokeObjectURL(made.href);
  });
}

// Names go into the report's text and the descriptions of its charts; signed text stays unchanged.
// No parser is used, because the report has a style of its own, which this page's policy forbids.
const MARKUP = /(<pre\b[^]*?<\/pre>|<style\b[^]*?<\/style>|<[^>]*>)/;

function namedReport(text, names) {
  const safe = Object.fromEntries(Object.entries(names).map(([label, name]) => [label, escaped(name)]));
  const put = (words) => inWords(words, safe);
  const pieces = text.split(MARKUP).map((piece, number) =>
    number % 2 ? piece.replace(/ aria-label="[^"]*"/, put) : put(piece),
  );
  return pieces.join("");
}

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

await enliven();
addEventListener("resize", () => reachable());
each("[data-progress]", followProgress);
each("[data-refresh]", refresh);
each("a[data-names]", nameDownload);
if (document.querySelector("form[data-plan]")) {
  const { plan } = await import("./planner.js");
  each("form[data-plan]", (form) => plan(form, enliven));
}
if (document.querySelector("form[data-sign]")) {
  const { signOnSubmit } = await import("./signing.js");
  each("form[data-sign]", signOnSubmit);
}
if (document.querySelector("form[data-audience]")) {
  const { uploadOnSubmit } = await import("./audience.js");
  each("form[data-audience]", uploadOnSubmit);
}
if (document.querySelector("[data-ledger]")) {
  const { showChecked } = await import("./ledger.js");
  await showChecked(document.querySelector("[data-ledger]"));
}
document.documentElement.dataset.ready = "yes";
