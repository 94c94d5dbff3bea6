// Verification, in this browser, of a page about the ledger. A failure raises an alarm.

import { base64, utf8 } from "./bytes.js";
import { leafHash } from "./merkle.js";
import { inZone } from "./moments.js";
import { canonical } from "./statements.js";
import { openCheckpoint, parseKey } from "./notes.js";
import { continues, forget, proved, recall, remember, trustedKeys } from "./trust.js";

// A checkpoint is signed every few seconds, so an entry may be newer than the newest one.
const WAIT = 2000;
const PATIENCE = 10;

class NotThereError extends Error {}

// A browser that cannot verify must not refuse a valid ledger.
async function checkAble() {
  try {
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    "".isWellFormed();
  } catch {
    throw new NotThereError("verification needs a browser with Ed25519, and a page loaded over HTTPS");
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

// `box` names the URL of the evidence, which for an entry includes the proof.
export async function showChecked(box, tries = PATIENCE) {
  try {
    await checkAble();
    const checks = await check(box);
    say(box, "good", "Verified in this browser", checks);
  } catch (error) {
    if (error instanceof NotThereError) {
      say(box, "open", "Not verified", [`The page could not be verified: ${error.message}.`]);
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
    said.push(`This page shows entry ${evidence.proof.number}, byte for byte. Its hash and ${count(evidence.proof.path.length, "other")} lead to the root of the checkpoint.`);
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

// Check that the page shows the entry that was proved, and no other.
async function checkEntry(box, proof, head) {
  const shown = document.querySelector("[data-entry]").textContent;
  const entry = JSON.parse(proof.entry);
  if (canonical(JSON.parse(shown)) !== proof.entry || String(entry.number) !== box.dataset.number) {
    throw new Error("the entry on this page is not the proved entry");
  }
  if (base64(await leafHash(utf8(proof.entry))) !== document.querySelector("[data-leaf]").textContent) {
    throw new Error("the hash on this page is not that of the entry");
  }
  if (entry.number !== proof.number) throw new Error("the proof is of another entry");
  document.querySelectorAll("[data-proved]").forEach((place) => {
    if (stated(place) !== valueOf(entry, place.dataset.proved)) {
      throw new Error(`the page and the entry differ in ${place.dataset.proved}`);
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

// Verify every checkpoint in a list by its own signatures.
async function checkRows(keys, witnesses) {
  for (const place of document.querySelectorAll("[data-note]")) {
    const opened = await openCheckpoint(place.dataset.note, [...keys, ...witnesses]);
    if (String(opened.size) !== place.dataset.size) throw new Error("a checkpoint in the list has another size");
    place.textContent = "good";
    place.classList.add("good");
  }
}

function wordsOf(head) {
  const signers = head.signers.map((key) => key.id).join(" and ");
  const said = [`The checkpoint of ${count(head.size, "entry")} is signed by the ledger’s key ${signers} (${head.origin}).`];
  for (const { key, at } of head.witnesses) {
    const when = inZone(new Date(Number(at) * 1000));
    said.push(`It was cosigned by the witness ${key.name} on ${when}, with the key ${key.id} that the platform states for this witness.`);
  }
  if (!head.witnesses.length) said.push("No witness has cosigned it yet. A witness cosigns with `auditor ledger cosign`.");
  return said;
}

function sinceLastVisit(head, memory) {
  if (!memory) {
    return "This browser sees this ledger for the first time, and trusts the keys above from now on. Compare them once with keys that you received another way (`auditor ledger keys`).";
  }
  const before = BigInt(memory.size);
  const when = inZone(new Date(memory.at));
  if (head.size === before) return `It is the checkpoint that this browser verified on ${when}.`;
  return `It continues the checkpoint of ${count(before, "entry")} that this browser verified on ${when}. No entry before it was changed, removed or inserted.`;
}

const count = (number, what) => `${number} ${Number(number) === 1 ? what : { entry: "entries", other: "others" }[what]}`;

function say(box, state, title, lines) {
  box.dataset.state = state;
  box.querySelector("[data-title]").textContent = title;
  box.querySelector("[data-checks]").replaceChildren(...lines.map(item));
}

// Return a list item for a line of text, with commands between backticks.
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
    `The verification failed: ${error.message}.`,
    "Somebody changed the answer on the way, or the ledger itself. Save this page, export the ledger and verify it with your own copy of the auditor command.",
  ]);
  const button = box.querySelector("[data-forget]");
  button.hidden = false;
  button.addEventListener("click", () => {
    forget();
    location.reload();
  });
}
