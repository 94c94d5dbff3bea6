"""A request for an audit from what people type: bins, epsilon, content and audience."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import TypedDict

from auditor_client.audiences import NamedAudience
from auditor_client.drafts import draft
from auditor_client.errors import InputError
from openapi.models import (
    AuditRequest,
    Content,
    Edges,
    Levels,
    ScoreHistogramRequest,
    ScoreRange,
)

Number = int | float | str | Decimal
Bins = int | Sequence[float]

PLACES = 6
DEFAULT_BINS = 100


def exact_epsilon(value: Number) -> Decimal:
    """The very number that was typed, as a decimal of at most six places; never rounded."""
    try:
        # A float's shortest representation is what was typed: 0.1 means 0.1.
        number = Decimal(str(value)).normalize()
    except InvalidOperation as error:
        raise InputError(f"Epsilon {value!r} is not a number.") from error
    if not number.is_finite():
        raise InputError(f"Epsilon {value!r} is not a number.")
    if int(number.as_tuple().exponent) < -PLACES:
        raise InputError(f"Epsilon {value} has more than {PLACES} decimal places: write fewer.")
    return number


def equal_edges(count: int, scores: ScoreRange) -> list[float]:
    """The edges of `count` bins of equal width over the range of scores."""
    if count < 1:
        raise InputError("At least one bin is needed.")
    low, high = Fraction(scores.low), Fraction(scores.high)
    return [float(low + (high - low) * step / count) for step in range(count + 1)]


def bins_of(bins: Bins, levels: Sequence[float] | None, scores: ScoreRange) -> Edges | Levels:
    """Bins from their number, their edges, or the levels of a discrete score."""
    if levels is not None:
        return draft(Levels, levels=_increasing(levels))
    edges = equal_edges(bins, scores) if isinstance(bins, int) else bins
    return draft(Edges, edges=_increasing(edges))


def _increasing(values: Sequence[float]) -> list[float]:
    numbers = [float(value) for value in values]
    if any(left >= right for left, right in pairwise(numbers)):
        raise InputError("Edges and levels must increase.")
    return numbers


class Options(TypedDict, total=False):
    """What an audit may ask for, beside its content and audience."""

    bins: Bins
    """A number of equal bins over the platform's range of scores, or their edges (100 bins)."""
    levels: Sequence[float] | None
    """In place of bins, the values of a discrete score."""
    epsilon: Number
    """The noise on each bin has scale 1 / epsilon (1)."""
    size_epsilon: Number | None
    """Buys noisy numbers of scored people; a quarter of epsilon unless told, 0 for none."""
    context: Mapping[str, str | float] | None
    """Temporal variables to freeze, see `catalogue().context`."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""


def audit_request(
    content: Content | str,
    audience: NamedAudience | str,
    scores: ScoreRange,
    options: Options,
) -> AuditRequest:
    """The wire model, checked as far as this side can."""
    size_epsilon = options.get("size_epsilon")
    return draft(
        ScoreHistogramRequest,
        content_id=content if isinstance(content, str) else content.id,
        audience_id=audience if isinstance(audience, str) else audience.id,
        bins=bins_of(options.get("bins", DEFAULT_BINS), options.get("levels"), scores),
        epsilon=exact_epsilon(options.get("epsilon", 1)),
        size_epsilon=None if size_epsilon is None else exact_epsilon(size_epsilon),
        context=dict(options.get("context") or {}),
        mandate_id=options.get("mandate_id"),
    )
