"""Index of digests, built once: their bits are random, so some of them serve as a hash."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_AT_ONCE = 16_384
_WORDS = 4  # of eight bytes in a digest
_ALL_SAME = 0x01010101  # four words that are True, read as one number
_SPARE = 2  # more bits than there are digests, so that few of them share a slot
NOWHERE = -1


class DigestIndex:
    """Digests in slots, numbered by their first bits; in each slot, one leads to the next."""

    def __init__(self, digests: pa.Array) -> None:
        self._words = _words(digests)
        bits = len(self._words).bit_length() + _SPARE
        self._shift = np.uint64(64 - bits)
        slot = self._slots(self._words)
        order = np.argsort(slot, kind="stable")
        slot = slot[order]
        leads = np.diff(slot, prepend=-1) != 0
        # Small numbers, so that more of them fit into the cache.
        self._first = np.full(2**bits, NOWHERE, np.int32)
        self._first[slot[leads]] = order[leads]
        self._next = np.full(len(order), NOWHERE, np.int32)
        self._next[order[:-1][~leads[1:]]] = order[1:][~leads[1:]]

    def find(self, wanted: pa.Array) -> NDArray[np.int64]:
        """Return the index of each digest: the first one if there are several, NOWHERE if none."""
        words = _words(wanted)
        if not len(self._words):
            return np.full(len(words), NOWHERE)
        some = range(0, len(words), _AT_ONCE)
        found = [self._find(words[start : start + _AT_ONCE]) for start in some]
        return np.concatenate([*found, np.empty(0, np.int64)])

    def _find(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        # No number here is out of bounds, so nothing wraps: NumPy is slower where it must raise.
        index = self._first.take(self._slots(words), mode="wrap").astype(np.int64)
        searching = np.flatnonzero(~self._is_at(index, words) & (index != NOWHERE))
        while searching.size:
            here = self._next.take(index[searching], mode="wrap").astype(np.int64)
            index[searching] = here
            still = words.take(searching, axis=0, mode="wrap")
            searching = searching[~self._is_at(here, still) & (here != NOWHERE)]
        return index

    def _is_at(self, index: NDArray[np.int64], words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell whether each is the digest at its index; NOWHERE refers to an arbitrary digest."""
        there = self._words.take(index, axis=0, mode="wrap")
        return np.asarray((there == words).view(np.uint32)[:, 0] == _ALL_SAME)

    def _slots(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        return (words[:, 0] >> self._shift).astype(np.int64)


def _words(digests: pa.Array) -> NDArray[np.uint64]:
    data = digests.buffers()[1]
    start, size = digests.offset * _WORDS, len(digests) * _WORDS
    words = np.frombuffer(data, "<u8")[start : start + size] if data else np.empty(0, "<u8")
    return words.reshape(-1, _WORDS)
