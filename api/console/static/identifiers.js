// Identifiers, normalised and hashed before they are sent, as in auditor_client/audiences/identifiers.py.
// An error never quotes the value.

import { hex, sha256, utf8 } from "./bytes.js";
import { casefold } from "./casefold.js";

// White space as Python defines it.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const EDGES = new RegExp(`^${SPACE}+|${SPACE}+$`, "g");
const INSIDE = new RegExp(SPACE);

const strip = (text) => text.replace(EDGES, "");

export const wireKind = (kind) =>
  kind === "username" ? kind : kind.startsWith("email") ? "email_sha256" : "phone_sha256";

// Return the kind of identifier in a column, by its name; null if the name is unknown.
export function columnKind(column) {
  const name = strip(column).toLowerCase().replaceAll("-", "").replaceAll(" ", "_");
  const aliases = { mail: "email", e_mail: "email", telephone: "phone", user_name: "username" };
  const kind = aliases[name] ?? name;
  return ["email", "phone", "username", "email_sha256", "phone_sha256"].includes(kind) ? kind : null;
}

// Return the identifier to send for a value; null for an empty one.
export async function normalised(kind, value, country) {
  const text = strip(value);
  if (!text) return null;
  if (kind === "email") return hash(address(text));
  if (kind === "phone") return hash(await phone(text, country));
  return kind === "username" ? username(text) : hashed(text);
}

// The numbering plans are 250 kB, so they are loaded for phone numbers only.
async function phone(text, country) {
  const { e164 } = await import("./phones.js");
  return e164(text, country);
}

const hash = async (text) => hex(await sha256(utf8(text)));

function address(text) {
  const lowered = text.toLowerCase();
  const at = lowered.lastIndexOf("@");
  if (at < 1 || at === lowered.length - 1 || INSIDE.test(lowered)) {
    throw new Error("not an e-mail address");
  }
  return lowered;
}

function username(text) {
  const name = casefold(strip(text.normalize("NFKC")).replace(/^@/, ""));
  if (!name || INSIDE.test(name)) throw new Error("not a user name");
  return name;
}

function hashed(text) {
  const digits = text.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new Error("not a SHA-256 in 64 hexadecimal digits");
  return digits;
}
