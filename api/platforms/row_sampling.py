"""Draw of a few rows per person, uniformly and without replacement.

The drawn rows are a function of a secret, the person's number and the number of their rows: a keyed
mixing of bits provides the randomness. So nobody's draw depends on anybody else, and a person who
is in two groups has the same rows drawn in both.

[F87] Bentley, Floyd, A Sample of Brilliance, CACM 30(9), 1987 (sampling without replacement).
"""

import numpy as np
from numpy.typing import NDArray

from api.kernel.splitmix64 import GOLDEN, splitmix64, word
from api.platforms.interfaces import Persons

Indices = NDArray[np.intp]


def find_runs(person: Persons) -> tuple[Indices, Indices]:
    """Return the start and the number of each person's rows, among rows ordered by person."""
    if not len(person):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    first = np.concatenate([[0], np.flatnonzero(person[1:] != person[:-1]) + 1])
    return first, np.diff(first, append=len(person))


def sample_rows(person: Persons, first: Indices, rows: Indices, most: int, secret: int) -> Indices:
    """Draw at most `most` rows of each person, in order; `first` and `rows` are their runs."""
    many = rows > most
    sampled = sample_distinct_below(rows[many], person[first[many]], most, secret)
    drawn = (first[many][:, None] + sampled).ravel()
    if many.all():
        return np.sort(drawn)
    return np.sort(np.concatenate([np.flatnonzero(np.repeat(~many, rows)), drawn]))


def sample_distinct_below(
    ends: Indices, person: Persons, most: int, secret: int, *, first_step: int = 0
) -> Indices:
    """Draw `most` different numbers below each person's end, every set equally likely.   [F87]

    The draw uses the steps from `first_step` on; `below` with another step is independent of it.
    """
    chosen = np.full((len(person), most), -1, np.intp)
    for step in range(most):
        last = ends - most + step
        number = sample_below(last + 1, person, first_step + step, secret)
        taken = (chosen[:, :step] == number[:, None]).any(axis=1)
        chosen[:, step] = np.where(taken, last, number)
    return chosen


def sample_below(ends: Indices, person: Persons, step: int, secret: int) -> Indices:
    """Return a number from 0 below each end. An end e favours some numbers by at most e / 2⁵³."""
    bits = splitmix64(
        splitmix64(person.astype(np.uint64) + word(secret)) + word((step + 1) * GOLDEN)
    )
    share = (bits >> np.uint64(11)).astype(np.float64) / 2**53
    return np.minimum((share * ends).astype(np.intp), ends - 1)
