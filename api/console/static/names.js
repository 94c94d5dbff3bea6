// What only this browser knows of an audience: the names of its groups, its salt, its commitment.

const place = (audience) => `platform-auditor/audience/${audience}`;

export function keep(audience, record) {
  localStorage.setItem(place(audience), JSON.stringify(record));
}

export function knownNames(audience) {
  return JSON.parse(localStorage.getItem(place(audience)) ?? "{}").names ?? {};
}

// Labels on the page give way to names; `textContent` takes a name for nothing but text.
export function nameLabels(root = document) {
  root.querySelectorAll("[data-label]").forEach((place) => {
    place.textContent = knownNames(place.dataset.audience)[place.dataset.label] ?? place.dataset.label;
  });
}

// A copy of a JSON value in which whole strings that are labels give way to names.
export function named(value, names) {
  if (typeof value === "string") return names[value] ?? value;
  if (Array.isArray(value)) return value.map((each) => named(each, names));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, named(each, names)]));
}

// A text in which labels give way to names.
export const inWords = (text, names) => text.replace(/\bg\d{1,3}\b/g, (label) => names[label] ?? label);
