// Upload of an audience from a CSV file: normalised, hashed and relabelled here, then sealed.
// The browser sends labels, and identifiers as auditor_client does. It keeps the names and the salt.

import { base64, sha256, utf8 } from "./bytes.js";
import { commit, groupDigest, partDigest, token } from "./commitment.js";
import { parseCsv } from "./csv.js";
import { columnKind, normalised, wireKind } from "./identifiers.js";
import { keep } from "./names.js";

const PART = 20_000;
const TRIES = 10;
const MOST_GROUPS = 100;
const TRUE = new Set(["true", "1", "yes", "t"]);

const byCodePoint = (a, b) => {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const apart = left[at].codePointAt(0) - right[at].codePointAt(0);
    if (apart) return apart;
  }
  return left.length - right.length;
};

// Return members by label, sorted without duplicates, and names by label.
export async function grouped(rows, { id, kind, country, group, where }) {
  const groups = new Map();
  for (const [number, row] of rows.entries()) {
    if (where >= 0 && !TRUE.has((row[where] ?? "").trim().toLowerCase())) continue;
    const name = (row[group] ?? "").trim();
    if (!name) throw new Error(`Row ${number + 2} has no group.`);
    let sent;
    try {
      sent = await normalised(kind, row[id] ?? "", country);
    } catch (error) {
      throw new Error(`Row ${number + 2}: ${error.message}.`);
    }
    if (!groups.has(name)) groups.set(name, new Set());
    if (sent !== null) groups.get(name).add(sent);
  }
  const ordered = [...groups.keys()].sort(byCodePoint);
  if (!ordered.length) throw new Error("No row is left, so there is no group. Choose another column for the rows.");
  if (ordered.length > MOST_GROUPS) throw new Error("There are more than 100 groups. Choose the column of groups.");
  const names = Object.fromEntries(ordered.map((name, number) => [`g${number}`, name]));
  const members = Object.fromEntries(
    Object.entries(names).map(([label, name]) => [label, [...groups.get(name)].sort(byCodePoint)]),
  );
  return { names, members };
}

export async function commitment(salt, kind, members) {
  const digests = {};
  for (const [label, sent] of Object.entries(members)) {
    const parts = [];
    for (const part of cut(sent)) {
      const tokens = await Promise.all(part.map((each) => token(wireKind(kind), each)));
      parts.push(await partDigest(tokens));
    }
    digests[label] = await groupDigest(parts);
  }
  return commit(salt, digests);
}

// Split the people of a group into the parts that are sent.
function cut(sent) {
  const parts = [];
  for (let at = 0; at < sent.length; at += PART) parts.push(sent.slice(at, at + PART));
  return parts;
}

class Refusal extends Error {
  constructor(response, { detail, type }) {
    super(detail ?? "The upload was refused.");
    this.lost = type?.endsWith(":parts-lost") ?? false;
    this.busy = response.status === 503;
    this.seconds = Number(response.headers.get("Retry-After") ?? 5);
  }
}

class Upload {
  constructor(address, token, say) {
    Object.assign(this, { address, token, say });
  }

  async send(method, path, body, type, more = {}) {
    const response = await fetch(this.address + path, {
      method,
      body,
      headers: { "Content-Type": type, "X-Form-Token": this.token, Accept: "application/json", ...more },
    });
    const answer = await response.json();
    if (!response.ok) throw new Refusal(response, answer);
    return answer;
  }

  json(method, path, body) {
    return this.send(method, path, JSON.stringify(body), "application/json");
  }

  async run({ kind, consented }, { names, members }) {
    const salt = crypto.getRandomValues(new Uint8Array(32));
    const expected = await commitment(salt, kind, members);
    const { id } = await this.json("POST", "", { groups: Object.keys(names), consented });
    keep(id, { names, salt: base64(salt), commitment: expected, rows: PART });
    const sealed = await this.sealed(id, kind, members, { salt: base64(salt) });
    if (sealed.commitment !== expected) {
      throw new Error("The platform sealed other data than this browser uploaded. Tell the regulator.");
    }
    return id;
  }

  // Seal the audience. Parts are matched after they were accepted, so some may still be matched or lost.
  async sealed(id, kind, members, body) {
    for (let left = TRIES, send = true; ; left -= 1) {
      if (send) {
        for (const [label, sent] of Object.entries(members)) await this.group(id, label, kind, sent);
      }
      try {
        return await this.json("POST", `/${id}/seal`, body);
      } catch (error) {
        if (!left || !(error.lost || error.busy)) throw error;
        send = error.lost;
        this.say("The platform is matching people…");
        if (error.busy) await new Promise((done) => setTimeout(done, 1000 * error.seconds));
      }
    }
  }

  async group(id, label, kind, sent) {
    for (const [number, part] of cut(sent).entries()) {
      const lines = [wireKind(kind), ...part].map(quote).join("\n");
      const body = utf8(`${lines}\n`);
      const digest = `sha-256=:${base64(await sha256(body))}:`;
      this.say(`Uploading ${label}: ${number * PART + part.length} of ${sent.length} people`);
      const path = `/${id}/groups/${label}/members?part=${number}`;
      await this.send("PUT", path, body, "text/csv", { "Content-Digest": digest });
    }
  }
}

const quote = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export function uploadOnSubmit(form) {
  const part = (name) => form.querySelector(name);
  const status = part("[data-status]");
  const say = (words) => {
    status.textContent = words;
  };
  let header = [];
  let rows = [];

  async function open(file) {
    try {
      [header, ...rows] = parseCsv(await file.text());
      if (!rows.length) throw new Error("The file has no rows below its header.");
    } catch (error) {
      say(error.message);
      return;
    }
    offer(form, header);
    part("[data-step=columns]").hidden = false;
    say(`${rows.length} rows read. Nothing was sent.`);
  }

  const drop = part(".drop");
  part("#file").addEventListener("change", (event) => open(event.target.files[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = part("button");
    button.disabled = true;
    const chosen = {
      id: part("#id-column").selectedIndex,
      kind: part("#id-kind").value,
      country: part("#country").value,
      group: part("#group-column").selectedIndex,
      where: part("#where-column").selectedIndex - 1,
      consented: part("#consented").checked,
    };
    try {
      say("Hashing…");
      const found = await grouped(rows, chosen);
      await new Upload(form.getAttribute("action"), form.dataset.token, say).run(chosen, found);
      location.reload();
    } catch (error) {
      say(error.message);
      button.disabled = false;
    }
  });
}

// Offer the columns of the file, with a guess selected.
function offer(form, header) {
  const fill = (id, names) => {
    const options = names.map((name) => new Option(name, name));
    form.querySelector(id).replaceChildren(...options);
  };
  fill("#id-column", header);
  fill("#group-column", header);
  fill("#where-column", ["(all rows)", ...header]);
  const at = header.findIndex((name) => columnKind(name));
  if (at >= 0) {
    form.querySelector("#id-column").selectedIndex = at;
    form.querySelector("#id-kind").value = columnKind(header[at]);
  }
  form.querySelector("#group-column").selectedIndex = at === 0 && header.length > 1 ? 1 : 0;
}
