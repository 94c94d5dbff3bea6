// What makes pages livelier. Every page says what it has to say without it, where it can.

import { inWords, knownNames, nameLabels } from "./names.js";

const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);

// Times in the reader's own zone.
export function localTimes(root = document) {
  const style = { dateStyle: "medium", timeStyle: "short" };
  each("time[datetime]", (time) => {
    const at = new Date(time.dateTime);
    time.title = time.dateTime;
    time.textContent = new Intl.DateTimeFormat(undefined, style).format(at);
  }, root);
}

async function drawCharts(root = document) {
  if (!root.querySelector("[data-chart]")) return;
  const { draw } = await import("./charts.js");
  each("[data-chart]", draw, root);
}

async function enliven(root = document) {
  localTimes(root);
  nameLabels(root);
  await drawCharts(root);
}

// Numbers follow the sliders; the last question asked is the one that is answered.
function followSliders(form) {
  let asked = 0;
  let wait;
  const refresh = async () => {
    const question = ++asked;
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.getElementById("needed");
    if (question !== asked || !found) return;
    document.getElementById("needed").replaceWith(found);
    history.replaceState(null, "", address);
    await enliven(found);
  };
  form.addEventListener("input", (event) => {
    form.querySelector(`[data-of="${event.target.name}"]`).value = event.target.value;
    clearTimeout(wait);
    wait = setTimeout(refresh, 300);
  });
}

// The page comes anew when the audit is in another state.
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

// Files get the names of groups that only this browser knows.
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

// In the words of the report, and in what is said of its charts; what was signed stays as it is.
// Not by a parser: the report has a style of its own, which the policy of this page forbids.
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
each("form[data-plan]", followSliders);
each("[data-progress]", followProgress);
each("a[data-names]", nameDownload);
if (document.querySelector("form[data-sign]")) {
  const { signOnSubmit } = await import("./signing.js");
  each("form[data-sign]", signOnSubmit);
}
if (document.querySelector("form[data-audience]")) {
  const { uploadOnSubmit } = await import("./audience.js");
  each("form[data-audience]", uploadOnSubmit);
}
document.documentElement.dataset.ready = "yes";
