"""Tiles: stored form of the tree, so that each proof reads only a few hundred hashes.

Level 0 is the leaf hashes. A hash of level l + 1 is the Merkle Tree Hash of 256 neighbours of level
l, a tile, and is stored after they are complete. Hashes in between are computed again when they are
needed. Complete tiles never change, so older trees use the same hashes.

[TILES] C2SP tlog-tiles, "Merkle Tree" (full and partial tiles).
"""

from collections.abc import Callable, Sequence

from privacy.errors import ProofError
from privacy.ledger.merkle import EMPTY_ROOT, root_of

TILE = 256

Hashes = Callable[[int, int, int], Sequence[bytes]]
"""The stored hashes of a level, from start to before stop."""


class Tree:
    """Tree that reads its hashes from a given store."""

    def __init__(self, hashes: Hashes) -> None:
        self._hashes = hashes

    def root(self, size: int) -> bytes:
        return self.subtree(0, size) if size else EMPTY_ROOT

    def subtree(self, start: int, end: int) -> bytes:
        """Return the Merkle Tree Hash of leaves [start, end), for the ranges that proofs need.

        The start of such a range is a multiple of a power of two at least as large as the range.
        Level by level, the hashes at the right edge that fill no tile become one hash, the last of
        the level above.
        """
        if not 0 <= start < end or start % (1 << (end - start - 1).bit_length()):
            raise ProofError(f"leaves {start} to {end} are not a subtree", case="not-a-subtree")
        level, edge = 0, list[bytes]()
        while end - start >= TILE:
            full = end - end % TILE
            if full < end or edge:
                edge = [root_of([*self._read(level, full, end), *edge])]
            level, start, end = level + 1, start // TILE, full // TILE
        return root_of([*self._read(level, start, end), *edge])

    def completed(self, size: int) -> list[bytes]:
        """Return the hashes to store when the tree reaches this size: one of level 1, of level 2, …

        Usually there are none. The hash of level l has number size // 256**l - 1.
        """
        done: list[bytes] = []
        count = size
        while count and count % TILE == 0:
            last = done[-1:]
            row = self._read(len(done), count - TILE, count - len(last))
            done.append(root_of([*row, *last]))
            count //= TILE
        return done

    def _read(self, level: int, start: int, stop: int) -> Sequence[bytes]:
        if start == stop:
            return []
        row = self._hashes(level, start, stop)
        if len(row) != stop - start:
            raise ProofError(
                f"the tree has lost hashes {start} to {stop} of level {level}", case="lost-hashes"
            )
        return row
