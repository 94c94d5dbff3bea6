"""A request for an audit from what people type: bins, epsilon, content and audience."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypedDict

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.transport.decimals import Number, to_decimal_or_none
from auditor_client.transport.validation import validate
from openapi.resources import Content, Edges, Levels, ScoreHistogramRequest, ScoreRange

Bins = int | Sequence[float]

DEFAULT_BINS = 100


def equal_edges(count: int, scores: ScoreRange) -> list[float]:
    """The edges of `count` bins of equal width over the range of scores."""
    if count < 1:
        raise InputError("At least one bin is needed.")
    low, high = Fraction(scores.low), Fraction(scores.high)
    return [float(low + (high - low) * step / count) for step in range(count + 1)]


def parse_bins(bins: Bins, levels: Sequence[float] | None, scores: ScoreRange) -> Edges | Levels:
    """Bins from their number, their edges, or the levels of a discrete score."""
    if levels is not None:
        return validate(Levels, levels=_increasing(levels))
    edges = equal_edges(bins, scores) if isinstance(bins, int) else bins
    return validate(Edges, edges=_increasing(edges))


def _increasing(values: Sequence[float]) -> list[float]:
    numbers = [float(value) for value in values]
    if any(left >= right for left, right in pairwise(numbers)):
        raise InputError("Edges and levels must increase.", case="not-increasing")
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
    return validate(
        ScoreHistogramRequest,
        content_id=id_of(content),
        audience_id=id_of(audience),
        bins=parse_bins(options.get("bins", DEFAULT_BINS), options.get("levels"), scores),
        mechanism=mechanism,
        epsilon=to_decimal_or_none(epsilon, "epsilon"),
        size_epsilon=to_decimal_or_none(options.get("size_epsilon"), "size_epsilon"),
        rho=to_decimal_or_none(options.get("rho"), "rho"),
        size_rho=to_decimal_or_none(options.get("size_rho"), "size_rho"),
        context=dict(options.get("context") or {}),
        mandate_id=options.get("mandate_id"),
    )


def id_of(thing: Content | NamedAudience | str) -> str:
    return thing if isinstance(thing, str) else thing.id
