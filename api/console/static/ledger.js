// Checks what a page shows of the ledger, in this browser, and says loudly when it does not hold.

import { base64, utf8 } from "./bytes.js";
import { leafHash } from "./merkle.js";
import { inZone } from "./moments.js";
import { canonical } from "./statements.js";
import { openCheckpoint, parseKey } from "./notes.js";
import { continues, forget, proved, recall, remember, trustedKeys } from "./trust.js";

// A head is signed every few seconds: an entry may be newer than the newest.
const WAIT = 2000;
const PATIENCE = 10;

class NotThereError extends Error {}

// A browser that cannot verify must not call a good ledger bad.
async function checkAble() {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    "".isWellFormed();
  } catch {
    throw new NotThereError("this needs a browser that verifies Ed25519, and a page that came over HTTPS");
  }
}

async function fetched(address) {
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "application/json" } });
  } catch {
    throw new NotThereError("the service does not answer");
  }
  const found = await response.json().catch(() => ({}));
  if (!response.ok) throw new NotThereError(found.detail ?? `the service answers ${response.status}`);
  return found;
}

// `box` names where the evidence is; of an entry it holds the proof too.
export async function showChecked(box, tries = PATIENCE) {
  try {
    await checkAble();
    const checks = await check(box);
    say(box, "good", "Verified in this browser", checks);
  } catch (error) {
    if (error instanceof NotThereError) {
      say(box, "open", "Not verified", [`It could not be checked: ${error.message}.`]);
      if (tries) setTimeout(() => showChecked(box, tries - 1), WAIT);
    } else {
      refuse(box, error);
    }
  }
}

async function check(box) {
  const evidence = await fetched(box.dataset.ledger);
  const memory = recall();
  const keys = await trustedKeys(evidence, memory);
  const witnesses = await Promise.all(evidence.witnesses.map(parseKey));
  const head = await openCheckpoint(evidence.proof?.checkpoint ?? evidence.checkpoint, [...keys, ...witnesses]);
  const said = [];
  if (evidence.proof) {
    await checkEntry(box, evidence.proof, head);
    said.push(`What is shown is entry ${evidence.proof.number}, byte for byte: its hash and ${count(evidence.proof.path.length, "other")} lead to the root of the signed head.`);
  }
  if (memory) {
    await continues(head, memory, async (old, fresh) => {
      const address = `${box.dataset.consistency}?old=${old}&new=${fresh}`;
      return (await fetched(address)).path;
    });
  }
  await checkRows(keys, witnesses);
  remember(head, keys.map((key) => key.text));
  return [...said, ...wordsOf(head), sinceLastVisit(head, memory)];
}

// The page must show the entry that was proved, and no other.
async function checkEntry(box, proof, head) {
  const shown = document.querySelector("[data-entry]").textContent;
  const entry = JSON.parse(proof.entry);
  if (canonical(JSON.parse(shown)) !== proof.entry || String(entry.number) !== box.dataset.number) {
    throw new Error("the entry on this page is not the entry that is proved");
  }
  if (base64(await leafHash(utf8(proof.entry))) !== document.querySelector("[data-leaf]").textContent) {
    throw new Error("the hash on this page is not that of the entry");
  }
  if (entry.number !== proof.number) throw new Error("the proof is of another entry");
  document.querySelectorAll("[data-proved]").forEach((place) => {
    if (stated(place) !== valueOf(entry, place.dataset.proved)) {
      throw new Error(`the page says something else of ${place.dataset.proved} than the entry does`);
    }
  });
  await proved(proof, head);
}

const seconds = (text) => Math.floor(Date.parse(text) / 1000);
const stated = (place) => {
  const time = place.querySelector("time");
  return time ? String(seconds(time.dateTime)) : place.textContent.trim();
};
const valueOf = (entry, name) => {
  const value = name.split(".").reduce((whole, part) => whole?.[part], entry);
  return name === "at" ? String(seconds(value)) : String(value ?? "nobody");
};

// Every head in a list, by its own signatures.
async function checkRows(keys, witnesses) {
  for (const place of document.querySelectorAll("[data-note]")) {
    const opened = await openCheckpoint(place.dataset.note, [...keys, ...witnesses]);
    if (String(opened.size) !== place.dataset.size) throw new Error("a head in the list is of another size");
    place.textContent = "good";
    place.classList.add("good");
  }
}

function wordsOf(head) {
  const signers = head.signers.map((key) => key.id).join(" and ");
  const said = [`The head of ${count(head.size, "entry")} is signed by the ledger’s key ${signers} (${head.origin}).`];
  for (const { key, at } of head.witnesses) {
    const when = inZone(new Date(Number(at) * 1000));
    said.push(`It is cosigned by the witness ${key.name} on ${when}, with the key ${key.id} that the platform states for them.`);
  }
  if (!head.witnesses.length) said.push("No witness has cosigned it yet: `auditor ledger cosign` does.");
  return said;
}

function sinceLastVisit(head, memory) {
  if (!memory) {
    return "This browser saw this ledger for the first time and believes the keys above from now on: compare them once with those you got another way (`auditor ledger keys`).";
  }
  const before = BigInt(memory.size);
  const when = inZone(new Date(memory.at));
  if (head.size === before) return `It is the head that this browser verified on ${when}.`;
  return `It continues the head of ${count(before, "entry")} that this browser verified on ${when}: nothing before it was changed, removed or put in between.`;
}

const count = (number, what) => `${number} ${Number(number) === 1 ? what : { entry: "entries", other: "others" }[what]}`;

function say(box, state, title, lines) {
  box.dataset.state = state;
  box.querySelector("[data-title]").textContent = title;
  box.querySelector("[data-checks]").replaceChildren(...lines.map(item));
}

// A line of text, in which commands stand between backticks.
function item(line) {
  const made = document.createElement("li");
  line.split("`").forEach((piece, number) => {
    const part = document.createElement(number % 2 ? "code" : "span");
    part.textContent = piece;
    made.append(part);
  });
  return made;
}

function refuse(box, error) {
  box.classList.add("bad", "alarm");
  box.querySelector("[data-title]").setAttribute("role", "alert");
  say(box, "refused", "Refused: do not rely on this page", [
    `What the service sent does not hold: ${error.message}.`,
    "Either it was changed on the way, or the ledger was. Keep what you see, export the ledger and verify it with your own copy of the auditor command.",
  ]);
  const button = box.querySelector("[data-forget]");
  button.hidden = false;
  button.addEventListener("click", () => {
    forget();
    location.reload();
  });
}
