// Trust of this browser in the ledger: the keys of the first visit, their successors by handover,
// and the newest checkpoint that it verified. Another visit must continue that checkpoint.

import { fromBase64, fromHex, hex, utf8 } from "./bytes.js";
import { leafHash, verifyConsistency, verifyInclusion } from "./merkle.js";
import { ledgerKey, openCheckpoint, parseKey } from "./notes.js";

// Stored by the page's URL, not by the ledger's name, because a ledger may choose any name.
const place = () => `platform-auditor/ledger${location.pathname.split("/console")[0]}`;

export const recall = () => JSON.parse(localStorage.getItem(place()) ?? "null");

export const forget = () => localStorage.removeItem(place());

export function remember({ origin, size, root }, keys) {
  const kept = { origin, size: String(size), root: hex(root), keys, at: Date.now() };
  localStorage.setItem(place(), JSON.stringify(kept));
}

// Return the trusted keys: the stored ones or, on the first visit, the stated ones; then every key
// that an entry names under a checkpoint signed by a trusted key.
export async function trustedKeys({ origin, keys, handovers }, memory) {
  const trusted = await Promise.all((memory?.keys ?? keys).map(parseKey));
  for (const proof of handovers) {
    const { facts, kind } = JSON.parse(proof.entry);
    if (kind !== "signing-key" || facts.purpose !== "ledger") throw new Error("an entry does not hand over the ledger's key");
    const next = await ledgerKey(origin, fromBase64Url(facts.jwk.x));
    if (trusted.some((key) => key.text === next.text)) continue;
    await proved(proof, await openCheckpoint(proof.checkpoint, trusted));
    trusted.push(next);
  }
  return trusted;
}

// Throw unless the checkpoint covers the entry.
export async function proved({ entry, number, path }, head) {
  const leaf = await leafHash(utf8(entry));
  await verifyInclusion(leaf, BigInt(number), head.size, path.map(fromBase64), head.root);
}

// Throw unless the checkpoint continues the stored one; `pathOf` fetches the proof.
export async function continues(head, memory, pathOf) {
  if (memory.origin !== head.origin) {
    throw new Error(`the name of the ledger was ${memory.origin} and is now ${head.origin}`);
  }
  const before = BigInt(memory.size);
  if (head.size < before) {
    throw new Error(`the ledger had ${before} entries at the last visit, and has ${head.size} now`);
  }
  if (before === 0n) return;
  const path = head.size === before ? [] : (await pathOf(before, head.size)).map(fromBase64);
  await verifyConsistency(before, head.size, fromHex(memory.root), head.root, path).catch((error) => {
    throw new Error(`it does not continue what this browser verified before: ${error.message}`);
  });
}

const fromBase64Url = (text) =>
  fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat(-text.length & 3));
