// Conversion between bytes and text, and digests of bytes.

const encoder = new TextEncoder();

export const utf8 = (text) => encoder.encode(text);

export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

export const hex = (bytes) => Array.from(bytes, (each) => each.toString(16).padStart(2, "0")).join("");

export const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export function base64(bytes) {
  let text = "";
  for (const each of bytes) text += String.fromCharCode(each);
  return btoa(text);
}

export const base64url = (bytes) =>
  base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

// Decode Base64 in its canonical form only (RFC 4648, §4).
export function fromBase64(text) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw new Error("the text is not Base64");
  }
  if (base64(bytes) !== text) throw new Error("the text is not canonical Base64");
  return bytes;
}

export const same = (one, other) => hex(one) === hex(other);

export function joined(pieces) {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
