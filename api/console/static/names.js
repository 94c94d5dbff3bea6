// Records of audiences that only this browser has: names of groups, salt, commitment.

const place = (audience) => `platform-auditor/audience/${audience}`;

export function keep(audience, record) {
  localStorage.setItem(place(audience), JSON.stringify(record));
}

export function knownNames(audience) {
  return JSON.parse(localStorage.getItem(place(audience)) ?? "{}").names ?? {};
}

// Replace labels on the page with names; `textContent` treats a name as plain text.
export function nameLabels(root = document) {
  root.querySelectorAll("[data-label]").forEach((place) => {
    place.textContent = knownNames(place.dataset.audience)[place.dataset.label] ?? place.dataset.label;
  });
}

// Return a copy of a JSON value in which strings that are labels are replaced with names.
export function named(value, names) {
  if (typeof value === "string") return names[value] ?? value;
  if (Array.isArray(value)) return value.map((each) => named(each, names));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, named(each, names)]));
}

// Return a text in which labels are replaced with names.
export const inWords = (text, names) => text.replace(/\bg\d{1,3}\b/g, (label) => names[label] ?? label);
