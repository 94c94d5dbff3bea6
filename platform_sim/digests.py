"""An index of digests, built once: their bits are random, so that some of them are a hash."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_AT_ONCE = 65_536
_WORDS = 4  # of eight bytes in a digest
NOWHERE = -1


class DigestIndex:
    """Digests by some of their bits, about one for each number that these can be."""

    def __init__(self, digests: pa.Array) -> None:
        words = _words(digests)
        self._shift = np.uint64(64 - max(1, len(words).bit_length()))
        first = words[:, 0] >> self._shift
        self._order = np.argsort(first, kind="stable")
        self._words = words[self._order]
        sizes = np.bincount(first.astype(np.int64), minlength=2 ** (64 - int(self._shift)))
        self._starts = np.concatenate([[0], np.cumsum(sizes)])

    def find(self, wanted: pa.Array) -> NDArray[np.int64]:
        """The place at which each was given, the first one if several, NOWHERE if none."""
        words = _words(wanted)
        some = range(0, len(words), _AT_ONCE)
        found = [self._find(words[start : start + _AT_ONCE]) for start in some]
        return np.concatenate([*found, np.empty(0, np.int64)])

    def _find(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        first = (words[:, 0] >> self._shift).astype(np.int64)
        place, end = self._starts[first], self._starts[first + 1]
        found = np.full(len(words), NOWHERE)
        searching = np.flatnonzero(place < end)
        while searching.size:
            here = place[searching]
            theirs, mine = self._words[here], words[searching]
            same = theirs[:, 0] == mine[:, 0]
            for word in range(1, _WORDS):
                same &= theirs[:, word] == mine[:, word]
            found[searching[same]] = self._order[here[same]]
            place[searching] += 1
            searching = searching[~same & (here + 1 < end[searching])]
        return found


def _words(digests: pa.Array) -> NDArray[np.uint64]:
    data = digests.buffers()[1]
    start, size = digests.offset * _WORDS, len(digests) * _WORDS
    words = np.frombuffer(data, "<u8")[start : start + size] if data else np.empty(0, "<u8")
    return words.reshape(-1, _WORDS)
