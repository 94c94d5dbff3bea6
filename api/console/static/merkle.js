// Proofs about the tree over the ledger's entries, verified as in privacy/ledger/merkle.py.
// [CT] RFC 9162, §2.1. Sizes are BigInt, because a tree may exceed the exact integers of numbers.

import { joined, same, sha256 } from "./bytes.js";

const HASH_BYTES = 32;
const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);

// MTH({d[0]}) = HASH(0x00 || d[0])   [CT, §2.1.1]
export const leafHash = (data) => sha256(joined([LEAF, data]));

// MTH(D_n) = HASH(0x01 || MTH(D[0:k]) || MTH(D[k:n]))   [CT, §2.1.1]
const nodeHash = (left, right) => sha256(joined([NODE, left, right]));

// Throw unless the tree of this size and root has this leaf hash at this index   [CT, §2.1.3.2].
export async function verifyInclusion(leaf, index, size, path, root) {
  checkLengths([leaf, root, ...path]);
  if (index < 0n || index >= size) throw new Error(`there is no entry ${index} in a tree of ${size}`);
  let [fn, sn, found] = [index, size - 1n, leaf];
  for (const sibling of path) {
    if (sn === 0n) throw new Error("the inclusion proof is too long");
    if (fn & 1n || fn === sn) {
      found = await nodeHash(sibling, found);
      [fn, sn] = skipped(fn, sn);
    } else {
      found = await nodeHash(found, sibling);
    }
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  if (sn !== 0n || !same(found, root)) {
    throw new Error(`the inclusion proof of entry ${index} does not lead to the root`);
  }
}

// Throw unless the old tree is the beginning of the new one   [CT, §2.1.4.2].
export async function verifyConsistency(oldSize, newSize, oldRoot, newRoot, path) {
  checkLengths([oldRoot, newRoot, ...path]);
  if (oldSize <= 0n || oldSize > newSize) {
    throw new Error(`a tree of ${oldSize} is not the beginning of a tree of ${newSize}`);
  }
  if (oldSize === newSize && !path.length && same(oldRoot, newRoot)) return;
  if (oldSize === newSize || !path.length) {
    throw new Error("a consistency proof is empty if and only if both trees are the same");
  }
  const [first, ...rest] = oldSize & (oldSize - 1n) ? path : [oldRoot, ...path];
  let [fn, sn] = [oldSize - 1n, newSize - 1n];
  while (fn & 1n) [fn, sn] = [fn >> 1n, sn >> 1n];
  let [foundOld, foundNew] = [first, first];
  for (const sibling of rest) {
    if (sn === 0n) throw new Error("the consistency proof is too long");
    if (fn & 1n || fn === sn) {
      foundOld = await nodeHash(sibling, foundOld);
      foundNew = await nodeHash(sibling, foundNew);
      [fn, sn] = skipped(fn, sn);
    } else {
      foundNew = await nodeHash(foundNew, sibling);
    }
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  if (sn !== 0n || !same(foundOld, oldRoot) || !same(foundNew, newRoot)) {
    throw new Error(`the tree of ${newSize} does not begin with the tree of ${oldSize}`);
  }
}

// At the right edge a node may move up some levels unchanged   [CT, §2.1.3.2, step 4].
function skipped(fn, sn) {
  while (fn && !(fn & 1n)) [fn, sn] = [fn >> 1n, sn >> 1n];
  return [fn, sn];
}

function checkLengths(hashes) {
  if (hashes.some((each) => each.length !== HASH_BYTES)) throw new Error("a hash must have 32 bytes");
}
