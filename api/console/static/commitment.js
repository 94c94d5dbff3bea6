// Commitment to an audience, computed as in privacy/commitment.py.

import { fromHex, hex, joined, sha256, utf8 } from "./bytes.js";

const TAG = utf8("platform-auditor/audience/v2");

// Return the 32 bytes that the commitment hashes for an identifier.
export const token = async (kind, sent) =>
  kind === "username" ? sha256(utf8(`username\0${sent}`)) : fromHex(sent);

export const partDigest = async (tokens) => sha256(joined(tokens));

// Return the digest of a group from the digests of its parts, in order.
export const groupDigest = async (parts) => sha256(joined(parts));

// `groups` are digests by label.
export async function commit(salt, groups) {
  const fields = [TAG, salt];
  for (const label of Object.keys(groups).sort()) fields.push(utf8(label), groups[label]);
  const framed = fields.flatMap((field) => [size(field.length), field]);
  return `sha256:${hex(await sha256(joined(framed)))}`;
}

function size(length) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length));
  return bytes;
}
