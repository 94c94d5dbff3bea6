"""Caps on lists: each person counts in at most a declared number of lists, in each role.

An order that is fixed beforehand (a hash of a list's number and a seed) decides whether a list is
kept, never its content. Roles are capped in turn: first the owner of a list (the viewer), then the
people who appear in it (candidates). A candidate beyond their cap is *blank* in that list. The list
itself stays, because dropping it would let one person remove others' lists.

A person with at most v kept lists as a viewer and c kept positions as a candidate, in lists of at
most L positions, changes at most v + c + v·L lists. docs/explanation/two-party-metrics.md has the
proof, under "What one person can move".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
NOBODY = -1


@dataclass(frozen=True)
class Caps:
    """Caps: largest numbers of lists of a viewer, of positions of a candidate, and of positions of
    a list.

    A cap is None if that side is not people: jobs that own lists, items that are listed.
    """

    viewer: int | None = 1
    candidate: int | None = 1
    length: int = 1

    def __post_init__(self) -> None:
        given = [cap for cap in (self.viewer, self.candidate) if cap is not None]
        if not given or min(*given, self.length) < 1:
            raise BoundsError(
                "caps must be at least 1, and at least one side must be people", case="caps"
            )

    @property
    def lists(self) -> int:
        """Return the number of lists that one person's data can change."""
        viewer, candidate = self.viewer or 0, self.candidate or 0
        return viewer + candidate + (viewer * self.length if candidate else 0)


@dataclass(frozen=True, eq=False)
class Capped:
    """Kept lists and their candidates, with `NOBODY` in blank positions."""

    lists: Numbers
    candidates: Numbers


def cap_lists(
    number: Numbers, viewer: Numbers, candidates: Numbers, caps: Caps, seed: int = 0
) -> Capped:
    """Cap both roles. `number` is a stable number of each list; `candidates` has a row per list."""
    if candidates.ndim != 2 or candidates.shape[1] > caps.length:
        raise BoundsError(f"lists may have at most {caps.length} places", case="places")
    order, kept = mix_bits(number, seed), np.arange(len(number))
    if caps.viewer is not None:
        kept = np.flatnonzero(select_first(viewer, order, caps.viewer) & (viewer != NOBODY))
    if caps.candidate is None:
        return Capped(kept, candidates[kept])
    distinct = _drop_repeats(candidates[kept])
    rows, columns = np.nonzero(distinct != NOBODY)
    chosen = select_first(distinct[rows, columns], order[kept][rows], caps.candidate)
    blank = np.full_like(distinct, NOBODY)
    blank[rows[chosen], columns[chosen]] = distinct[rows[chosen], columns[chosen]]
    return Capped(kept, blank)


def select_first(owner: Numbers, order: NDArray[np.uint64], most: int) -> Mask:
    """Select the first `most` entries of each owner, in the given order."""
    sequence = np.lexsort((order, owner))
    sorted_owner = owner[sequence]
    starts = np.flatnonzero(np.append(True, sorted_owner[1:] != sorted_owner[:-1]))
    lengths = np.diff(np.append(starts, len(owner)))
    rank = np.arange(len(owner)) - np.repeat(starts, lengths)
    found = np.zeros(len(owner), np.bool_)
    found[sequence] = rank < most
    return found


def mix_bits(numbers: Numbers, seed: int) -> NDArray[np.uint64]:
    """Return a bijection of 64-bit numbers that looks random: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _drop_repeats(candidates: Numbers) -> Numbers:
    """Keep only the higher position of a person who appears twice in a list."""
    found = candidates.copy()
    for column in range(1, found.shape[1]):
        again = (candidates[:, :column] == candidates[:, column, np.newaxis]).any(axis=1)
        found[again, column] = NOBODY
    return found
