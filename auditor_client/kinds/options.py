"""Bins and identifiers from given values."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.transport.validation import validate
from openapi.resources import Content, Edges, Levels, ScoreRange

Bins = int | Sequence[float]


def equal_edges(count: int, scores: ScoreRange) -> list[float]:
    """Return the edges of `count` bins of equal width over the range of scores."""
    if count < 1:
        raise InputError("At least one bin is needed.")
    low, high = Fraction(scores.low), Fraction(scores.high)
    return [float(low + (high - low) * step / count) for step in range(count + 1)]


def parse_bins(bins: Bins, levels: Sequence[float] | None, scores: ScoreRange) -> Edges | Levels:
    """Return bins from their number, their edges, or the levels of a discrete score."""
    if levels is not None:
        return validate(Levels, levels=_increasing(levels))
    edges = equal_edges(bins, scores) if isinstance(bins, int) else bins
    return validate(Edges, edges=_increasing(edges))


def _increasing(values: Sequence[float]) -> list[float]:
    numbers = [float(value) for value in values]
    if any(left >= right for left, right in pairwise(numbers)):
        raise InputError("Edges and levels must increase.", case="not-increasing")
    return numbers


def id_of(thing: Content | NamedAudience | str) -> str:
    return thing if isinstance(thing, str) else thing.id
