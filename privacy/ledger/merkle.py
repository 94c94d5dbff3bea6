"""Merkle tree over the entries: its root, and short proofs about its leaves.

An inclusion proof shows that an entry has its stated position in the ledger. A consistency proof
shows that an older ledger is the beginning of a newer one, so nothing was rewritten. Both are lists
of hashes, from the leaves upwards. A root and its size belong together, in one signed checkpoint:
with another size, the same proof may lead to the same root.

[CT] RFC 9162, §2.1, read in its last draft (draft-ietf-trans-rfc6962-bis-42); RFC 6962, §2.1 has
     the same hashes.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from hashlib import sha256
from itertools import count

from privacy.errors import ProofError

HASH_BYTES = 32

# MTH({}) = HASH()   [CT, §2.1.1]
EMPTY_ROOT = sha256().digest()

Subtree = Callable[[int, int], bytes]
"""The Merkle Tree Hash of leaves [start, end): from memory, or from tiles."""


def leaf_hash(data: bytes) -> bytes:
    # MTH({d[0]}) = HASH(0x00 || d[0])   [CT, §2.1.1]
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    # MTH(D_n) = HASH(0x01 || MTH(D[0:k]) || MTH(D[k:n]))   [CT, §2.1.1]
    return sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the Merkle Tree Hash over leaf hashes, or over the hashes of subtrees of one size.

    Only the last subtree may be smaller. Neighbours are joined level by level, and an odd last one
    moves up unchanged. This gives the same tree as splitting at the largest power of two.
    """
    if not hashes:
        return EMPTY_ROOT
    level = list(hashes)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [node_hash(a, b) for a, b in zip(level[::2], level[1::2], strict=False)] + odd
    return level[0]


class Frontier:
    """Tree that only grows: it keeps the roots of its complete subtrees, and no leaves."""

    __slots__ = ("_roots", "size")

    def __init__(self) -> None:
        self.size = 0
        self._roots: dict[int, bytes] = {}  # by height: one for each 1 of the size

    def extend(self, entries: Iterable[bytes]) -> None:
        """Append many entries at once, level by level: the tree of [CT, §2.1.2]."""
        level = [sha256(b"\x00" + entry).digest() for entry in entries]
        self.size += len(level)
        for height in count():
            if not level:
                return
            if height in self._roots:
                level.insert(0, self._roots.pop(height))
            if len(level) % 2:
                self._roots[height] = level.pop()
            each = iter(level)
            level = [sha256(b"\x01" + a + b).digest() for a, b in zip(each, each, strict=True)]

    def root(self) -> bytes:
        """Merge the remaining hashes, from the right [CT, §2.1.2, step 3]."""
        smallest, *larger = [self._roots[height] for height in sorted(self._roots)] or [EMPTY_ROOT]
        return reduce(lambda root, left: node_hash(left, root), larger, smallest)


def inclusion_path(index: int, size: int, subtree: Subtree) -> list[bytes]:
    """Return PATH(index, D_size) [CT, §2.1.3.1]."""
    if not 0 <= index < size:
        raise ProofError(f"there is no entry {index} in a tree of {size}", case="no-such-entry")
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(subtree(middle, end))
            end = middle
        else:
            path.append(subtree(start, middle))
            start = middle
    return path[::-1]


def consistency_path(old: int, new: int, subtree: Subtree) -> list[bytes]:
    """Return PROOF(old, D_new) [CT, §2.1.4.1]; empty between a tree and itself."""
    if not 0 < old <= new:
        raise ProofError(
            f"a tree of {old} is not the beginning of a tree of {new}", case="not-the-beginning"
        )
    path, start, end = [], 0, new
    while end != old:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(subtree(middle, end))
            end = middle
        else:
            path.append(subtree(start, middle))
            start = middle
    if start:  # SUBPROOF(m, D_m, false): the verifier does not have this hash yet
        path.append(subtree(start, end))
    return path[::-1]


def verify_inclusion(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes
) -> None:
    """Raise an error unless the tree of this size and root has this leaf hash there [CT,
    §2.1.3.2].
    """
    _check_lengths(leaf, root, *path)
    if not 0 <= index < size:
        raise ProofError(f"there is no entry {index} in a tree of {size}", case="no-such-entry")
    fn, sn, found = index, size - 1, leaf
    for sibling in path:
        if sn == 0:
            raise ProofError("the inclusion proof is too long", case="inclusion-proof-too-long")
        if fn & 1 or fn == sn:
            found = node_hash(sibling, found)
            fn, sn = _skip_levels_without_a_sibling(fn, sn)
        else:
            found = node_hash(found, sibling)
        fn, sn = fn >> 1, sn >> 1
    if sn != 0 or found != root:
        raise ProofError(
            f"the inclusion proof of entry {index} does not lead to the root",
            case="inclusion-fails",
        )


def verify_consistency(
    old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]
) -> None:
    """Raise an error unless the old tree is the beginning of the new one [CT, §2.1.4.2].

    The RFC omits equal sizes: for these, the path is empty and the roots are equal.
    """
    _check_lengths(old_root, new_root, *path)
    if not 0 < old <= new:
        raise ProofError(
            f"a tree of {old} is not the beginning of a tree of {new}", case="not-the-beginning"
        )
    if old == new and not path and old_root == new_root:
        return
    if old == new or not path:
        raise ProofError(
            "a consistency proof must be empty for trees of equal size, and only then",
            case="empty-consistency-proof",
        )
    first, *rest = path if old & (old - 1) else [old_root, *path]
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    found_old = found_new = first
    for sibling in rest:
        if sn == 0:
            raise ProofError("the consistency proof is too long", case="consistency-proof-too-long")
        if fn & 1 or fn == sn:
            found_old = node_hash(sibling, found_old)
            found_new = node_hash(sibling, found_new)
            fn, sn = _skip_levels_without_a_sibling(fn, sn)
        else:
            found_new = node_hash(found_new, sibling)
        fn, sn = fn >> 1, sn >> 1
    if sn != 0 or found_old != old_root or found_new != new_root:
        raise ProofError(
            f"the tree of {new} does not begin with the tree of {old}", case="consistency-fails"
        )


def _split(size: int) -> int:
    """Return the largest power of two smaller than the size."""
    return 1 << ((size - 1).bit_length() - 1)


def _skip_levels_without_a_sibling(fn: int, sn: int) -> tuple[int, int]:
    """Skip the levels at the right edge on which a node moves up unchanged [CT, §2.1.3.2, step
    4].
    """
    while fn and not fn & 1:
        fn, sn = fn >> 1, sn >> 1
    return fn, sn


def _check_lengths(*hashes: bytes) -> None:
    if any(len(one) != HASH_BYTES for one in hashes):
        raise ProofError(f"a hash must have {HASH_BYTES} bytes", case="hash-size")
