// Whom this browser believes of the ledger: keys that it was shown first, or that those handed on,
// and the newest head that it verified. Another visit must continue that head.

import { fromBase64, fromHex, hex, utf8 } from "./bytes.js";
import { leafHash, verifyConsistency, verifyInclusion } from "./merkle.js";
import { ledgerKey, openCheckpoint, parseKey } from "./notes.js";

// By where the page is, not by what the ledger calls itself: it might call itself anything.
const place = () => `platform-auditor/ledger${location.pathname.split("/console")[0]}`;

export const recall = () => JSON.parse(localStorage.getItem(place()) ?? "null");

export const forget = () => localStorage.removeItem(place());

export function remember({ origin, size, root }, keys) {
  const kept = { origin, size: String(size), root: hex(root), keys, at: Date.now() };
  localStorage.setItem(place(), JSON.stringify(kept));
}

// Those that are trusted: remembered, or on the first visit as they were stated; then every key
// that an entry under a head signed by a trusted key names.
export async function trustedKeys({ origin, keys, handovers }, memory) {
  const trusted = await Promise.all((memory?.keys ?? keys).map(parseKey));
  for (const proof of handovers) {
    const { facts, kind } = JSON.parse(proof.entry);
    if (kind !== "signing-key" || facts.purpose !== "ledger") throw new Error("no key is handed on here");
    const next = await ledgerKey(origin, fromBase64Url(facts.jwk.x));
    if (trusted.some((key) => key.text === next.text)) continue;
    await proved(proof, await openCheckpoint(proof.checkpoint, trusted));
    trusted.push(next);
  }
  return trusted;
}

// Throws unless the entry is under the head.
export async function proved({ entry, number, path }, head) {
  const leaf = await leafHash(utf8(entry));
  await verifyInclusion(leaf, BigInt(number), head.size, path.map(fromBase64), head.root);
}

// Throws unless the head continues the one that is remembered; `pathOf` fetches the proof.
export async function continues(head, memory, pathOf) {
  if (memory.origin !== head.origin) {
    throw new Error(`the ledger calls itself ${head.origin}, and called itself ${memory.origin} before`);
  }
  const before = BigInt(memory.size);
  if (head.size < before) {
    throw new Error(`the ledger had ${before} entries when this browser last saw it, and has ${head.size} now`);
  }
  if (before === 0n) return;
  const path = head.size === before ? [] : (await pathOf(before, head.size)).map(fromBase64);
  await verifyConsistency(before, head.size, fromHex(memory.root), head.root, path).catch((error) => {
    throw new Error(`it is not what this browser verified before, and more: ${error.message}`);
  });
}

const fromBase64Url = (text) =>
  fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat(-text.length & 3));
