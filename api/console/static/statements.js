// Statements, built as in privacy/ledger/statements.py: canonical JSON (RFC 8785), signed by the
// researcher's own key, as a detached JWS (RFC 7515, Appendix F).

import { base64url, fromBase64, hex, joined, sha256, utf8 } from "./bytes.js";

const TYPE = "platform-auditor-statement+jws";
const COMMITMENT = utf8("platform-auditor/personal/v1\0");
// Fields that the price depends on, in addition to the text fields.
const PRICED = ["contents", "steps", "targets"];

// Keys in the order of their UTF-16 units; numbers and strings as ECMAScript writes them.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

export const digest = async (value) => `sha256:${hex(await sha256(utf8(canonical(value))))}`;

// Return an audit request as it is stated: its text fields, and the digest of the whole.
export async function condensed(request) {
  const kept = Object.entries(request).filter(
    ([name, value]) => value === null || typeof value === "string" || PRICED.includes(name),
  );
  return { ...Object.fromEntries(kept), request: await digest(request) };
}

// Return any other request as it is stated: with commitments instead of personal text.
export async function stated(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return Promise.all(value.map(stated));
  const members = Object.keys(value).sort().join();
  if (members === "salt,text") return { commitment: await commitment(value) };
  const pairs = Object.entries(value).map(async ([name, each]) => [name, await stated(each)]);
  return Object.fromEntries(await Promise.all(pairs));
}

async function commitment({ text, salt }) {
  const bytes = fromBase64(salt.replaceAll("-", "+").replaceAll("_", "/"));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length));
  return `sha256:${hex(await sha256(joined([COMMITMENT, length, bytes, utf8(text)])))}`;
}

// Return the bytes to sign: for one platform and one purpose, and with a key that is used once.
export const payload = (platform, action, by, key, body) =>
  utf8(canonical({ platform, action, by, key, body }));

export async function thumbprint({ crv, kty, x }) {
  return base64url(await sha256(utf8(canonical({ crv, kty, x }))));
}

export async function sign(stated, jwk, at = Math.floor(Date.now() / 1000)) {
  const { crv, kty, x, d } = jwk;
  const key = await crypto.subtle.importKey("jwk", { crv, kty, x, d }, "Ed25519", false, ["sign"]);
  const header = { alg: "Ed25519", iat: at, kid: await thumbprint(jwk), typ: TYPE };
  const head = base64url(utf8(JSON.stringify(header)));
  const input = utf8(`${head}.${base64url(stated)}`);
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, input));
  return `${head}..${base64url(signature)}`;
}
