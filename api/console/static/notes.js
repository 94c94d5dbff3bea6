// Signed notes, parsed exactly as strictly as in privacy/ledger/notes.py.
// [NOTE] C2SP signed-note. [CHECKPOINT] C2SP tlog-checkpoint. [COSIGNATURE] C2SP tlog-cosignature.

import { base64, fromBase64, hex, joined, sha256, utf8 } from "./bytes.js";

const NOTE_BYTES = 2 ** 17;
const SIGNATURES = 64;
const TOO_LARGE = 2n ** 63n;
const ED25519 = 1;
const COSIGNATURE_V1 = 4;

const NAME = "([^\\s\\x85+\\x00-\\x1f]+)";
const BASE64 = "([A-Za-z0-9+/]+={0,2})";
const KEY = new RegExp(`^${NAME}\\+([0-9a-f]{8})\\+${BASE64}$`);
const LINE = new RegExp(`^— ${NAME} ${BASE64}$`);
const TEXT = /^[^\x00-\x09\x0b-\x1f]*\n$/;
const CHECKPOINT = /^([^\x00-\x1f]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n$/;

function matched(pattern, text, otherwise) {
  const match = pattern.exec(text);
  if (!match) throw new Error(otherwise);
  return match.slice(1);
}

// Parse a public key with its name and purpose   [NOTE, "Verifier keys"].
export async function parseKey(text) {
  const [name, stated, encoded] = matched(KEY, text, "the text is not a verifier key");
  const material = fromBase64(encoded);
  const [type, bytes] = [material[0], material.slice(1)];
  if (type !== ED25519 && type !== COSIGNATURE_V1) throw new Error("the type of the key is unknown");
  if (bytes.length !== 32) throw new Error("a public key must have 32 bytes");
  // SHA-256(key name || 0x0A || signature type || public key)[:4]   [NOTE, "Signatures"]
  const whole = await sha256(joined([utf8(name), new Uint8Array([0x0a, type]), bytes]));
  const id = hex(whole.slice(0, 4));
  if (id !== stated) throw new Error("the id of a key does not match its name and public key");
  return { text, name, id, type, bytes };
}

// Parse a text and its signatures, by the name and the id of the key   [NOTE, "Format"].
export function parseNote(note) {
  const cut = note.lastIndexOf("\n\n");
  if (cut < 0 || !note.isWellFormed() || utf8(note).length > NOTE_BYTES) {
    throw new Error("the text is not a signed note");
  }
  const text = note.slice(0, cut + 1);
  const lines = note.slice(cut + 2).split("\n");
  if (!TEXT.test(text)) throw new Error("a note must consist of complete lines without control characters");
  if (lines.pop() !== "") throw new Error("a note must end with its signatures, in complete lines");
  const signatures = new Map();
  for (const line of lines) {
    const [name, encoded] = matched(LINE, line, "a line below a note is not a signature");
    const bytes = fromBase64(encoded);
    const key = `${name}+${hex(bytes.slice(0, 4))}`;
    if (bytes.length <= 4 || signatures.has(key)) {
      throw new Error(`a signature of ${name} is empty, or there are two by one key`);
    }
    signatures.set(key, bytes.slice(4));
  }
  if (!signatures.size || signatures.size > SIGNATURES) throw new Error("a note must have 1 to 64 signatures");
  return { text, signatures };
}

// Parse origin, size and root   [CHECKPOINT, "Note text"].
export function parseCheckpoint(text) {
  const [origin, size, root] = matched(CHECKPOINT, text, "the text is not a checkpoint");
  if (BigInt(size) >= TOO_LARGE) throw new Error("the size of the checkpoint is too large");
  return { origin, size: BigInt(size), root: fromBase64(root) };
}

// Return a checkpoint with its signers and witnesses. Throw unless a given key with the name of the
// origin signed it, and every signature by a given key is valid. Signatures of other keys are ignored.
export async function openCheckpoint(note, keys) {
  const { text, signatures } = parseNote(note);
  const checkpoint = parseCheckpoint(text);
  const [signers, witnesses] = [[], []];
  for (const key of keys) {
    const signature = signatures.get(`${key.name}+${key.id}`);
    if (!signature) continue;
    const at = await verified(key, text, signature);
    if (at === null) signers.push(key);
    else witnesses.push({ key, at });
  }
  if (!signers.some((key) => key.name === checkpoint.origin)) {
    throw new Error("no trusted key of the ledger signed the checkpoint");
  }
  return { ...checkpoint, note, signers, witnesses, others: signatures.size - signers.length - witnesses.length };
}

// Return the time of a cosignature in seconds since 1970, null for a signature; throw if it is invalid.
async function verified(key, text, signature) {
  let [message, at] = [utf8(text), null];
  if (key.type === COSIGNATURE_V1) {
    if (signature.length < 8) throw new Error(`the cosignature of ${key.name} has no time`);
    at = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
    if (at >= TOO_LARGE) throw new Error("the time of a cosignature must be below 2^63");
    // "cosignature/v1", "time …" and the checkpoint   [COSIGNATURE, "Ed25519 signed message"]
    message = utf8(`cosignature/v1\ntime ${at}\n${text}`);
    signature = signature.slice(8);
  }
  const held = await crypto.subtle.importKey("raw", key.bytes, "Ed25519", false, ["verify"]);
  if (!(await crypto.subtle.verify("Ed25519", held, signature, message))) {
    throw new Error(`the signature of ${key.name} is not valid for this text`);
  }
  return at;
}

// Return the key of a ledger, from the public part (`x` of its JWK) in an entry.
export async function ledgerKey(name, bytes) {
  const material = joined([new Uint8Array([ED25519]), bytes]);
  const whole = await sha256(joined([utf8(name), new Uint8Array([0x0a]), material]));
  return parseKey(`${name}+${hex(whole.slice(0, 4))}+${base64(material)}`);
}
