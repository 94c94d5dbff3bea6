"""A request for an audit from what people type: bins, epsilon, content and audience."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypedDict

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.transport.validation import draft
from openapi.resources import Content, Edges, Levels, ScoreHistogramRequest, ScoreRange

Number = int | float | str | Decimal
Bins = int | Sequence[float]

PLACES = 6
DEFAULT_BINS = 100


def exact(value: Number, name: str = "epsilon", places: int = PLACES) -> Decimal:
    """The very number that was typed, as a decimal of at most so many places; never rounded."""
    try:
        # A float's shortest representation is what was typed: 0.1 means 0.1.
        number = Decimal(str(value)).normalize()
    except InvalidOperation as error:
        raise InputError(f"{value!r} is not a number: {name} must be one.") from error
    if not number.is_finite():
        raise InputError(f"{value!r} is not a number: {name} must be one.")
    if int(number.as_tuple().exponent) < -places:
        raise InputError(f"{value} has more than {places} decimal places: write {name} with fewer.")
    return Decimal(f"{number:f}")  # 20, where `normalize` says 2E+1


def exact_or_none(value: Number | None, name: str, places: int = PLACES) -> Decimal | None:
    return None if value is None else exact(value, name, places)


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
    epsilon: Number | None
    """The noise on each bin has scale 1 / epsilon (1)."""
    size_epsilon: Number | None
    """Buys noisy numbers of scored people; a quarter of epsilon unless told, 0 for none."""
    mechanism: Literal["discrete-laplace", "discrete-gaussian"]
    """Which noise (discrete-laplace). Gaussian noise needs a mandate in rho."""
    rho: Number | None
    """In place of epsilon, for Gaussian noise: the variance on each bin is 1 / (2 rho)."""
    size_rho: Number | None
    """In place of size_epsilon, for Gaussian noise; a sixteenth of rho unless told, 0 for none."""
    context: Mapping[str, str | float] | None
    """Temporal variables to freeze, see `catalogue().context`."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""


def audit_request(
    content: Content | str,
    audience: NamedAudience | str,
    scores: ScoreRange,
    options: Options,
) -> ScoreHistogramRequest:
    """The wire model, checked as far as this side can."""
    mechanism = options.get("mechanism", "discrete-laplace")
    epsilon = options.get("epsilon")
    if epsilon is None and mechanism == "discrete-laplace":
        epsilon = 1
    return draft(
        ScoreHistogramRequest,
        content_id=id_of(content),
        audience_id=id_of(audience),
        bins=bins_of(options.get("bins", DEFAULT_BINS), options.get("levels"), scores),
        mechanism=mechanism,
        epsilon=exact_or_none(epsilon, "epsilon"),
        size_epsilon=exact_or_none(options.get("size_epsilon"), "size_epsilon"),
        rho=exact_or_none(options.get("rho"), "rho"),
        size_rho=exact_or_none(options.get("size_rho"), "size_rho"),
        context=dict(options.get("context") or {}),
        mandate_id=options.get("mandate_id"),
    )


def id_of(thing: Content | NamedAudience | str) -> str:
    return thing if isinstance(thing, str) else thing.id
