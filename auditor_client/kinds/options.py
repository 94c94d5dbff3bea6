"""Bins and identifiers from given values."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.transport.validation import validate
from openapi.kinds.request_fields import MAX_BINS
from openapi.resources import Content, Edges, Levels, ScoreRange

Bins = int | Sequence[float]


def equal_edges(count: int, scores: ScoreRange) -> list[float]:
    """Return the edges of `count` bins of equal width over the range of scores."""
    if not 1 <= count <= MAX_BINS:
        raise InputError(f"The number of bins must be from 1 to {MAX_BINS}.")
    low, high = Fraction(scores.low), Fraction(scores.high)
    return [float(low + (high - low) * step / count) for step in range(count + 1)]


def parse_bins(bins: Bins, levels: Sequence[float] | None, scores: ScoreRange) -> Edges | Levels:
    """Return bins from their number, their edges, or the levels of a discrete score."""
    if levels is not None:
        return validate(Levels, levels=_increasing(levels))
    edges = equal_edges(bins, scores) if isinstance(bins, int) else bins
    if not 2 <= len(edges) <= MAX_BINS + 1:
        raise InputError(
            f"Bins need from 2 to {MAX_BINS + 1} edges, such as 0,0.5,1; or give the number of"
            " bins alone, such as 10."
        )
    return validate(Edges, edges=_increasing(edges))


def _increasing(values: Sequence[float]) -> list[float]:
    numbers = [float(value) for value in values]
    for left, right in pairwise(numbers):
        if left >= right:
            raise InputError(
                f"Edges and levels must increase, but {right:g} follows {left:g}.",
                case="not-increasing",
            )
    return numbers


def id_of(thing: Content | NamedAudience | str) -> str:
    return thing if isinstance(thing, str) else thing.id
