"""Limits of the size of a bias, by resampling queries and, if given, persons.

Queries (jobs, lists) are drawn with replacement. Independently, so are persons, each with all of
their rows. If both matter, this overstates the variance a little, and never understates it in the
limit [Owe07, §5]. Numbers after a correction are biased and skewed, so no single kind of bootstrap
limits is right. Ours cover four: percentiles of the replicates, the same reflected at the estimate
(2θ̂ - θ*), and the estimate ± t·sd(θ*), with and without bias correction
(docs/explanation/outcome-test.md, "The size of a bias").

[Owe07] Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1, 2007.
[DH97]  Davison, Hinkley, Bootstrap methods and their application, 1997, §5.2 and §5.3.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from auditor_client.errors import InputError
from auditor_client.outcome.scored_rows import Codes, ScoredRows
from auditor_client.stats.noise_distributions import Floats

REPLICATES = 200
_LEAST_QUERIES = 10
Counted = Callable[["Copies"], Floats]


@dataclass(frozen=True)
class ResamplingLimits:
    """Approximate limits at confidence 1 - delta, and the bias of the estimate."""

    low: float
    high: float
    se: float
    bias: float


@dataclass(frozen=True, eq=False)
class Copies:
    """Copies of each row: `within` its list, multiplied by the copies of its list (`times`)."""

    within: Floats
    times: Floats

    @classmethod
    def of(cls, rows: ScoredRows) -> "Copies":
        """Return one copy of each row."""
        return cls(np.ones(len(rows.scores)), np.ones(len(rows.scores)))

    @property
    def of_rows(self) -> Floats:
        return np.asarray(self.within * self.times)


def limits_of(
    rows: ScoredRows,
    counted: Counted,
    change: Callable[[Floats, Floats], Floats],
    delta: float,
    replicates: int,
    seed: int,
) -> list[ResamplingLimits | None]:
    """Return limits of every change between the two counted rows; None if undefined."""
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, not {delta}.", case="delta-range")
    value = change(*counted(Copies.of(rows)))
    if not replicates:
        return [None] * len(value)
    if replicates < 2 or rows.queries < _LEAST_QUERIES:
        raise InputError(
            f"Limits need at least 2 replicates and {_LEAST_QUERIES} queries, and there are"
            f" {replicates} and {rows.queries}; 0 replicates give none.",
            case="few-replicates-or-queries",
        )
    found = np.array(
        [change(*counted(copies)) for copies in draw_resamples(rows, replicates, seed)]
    )
    t = float(special.stdtrit(rows.queries - 1, 1 - delta / 2))
    return [_limits(one, each, delta, t) for one, each in zip(value, found.T, strict=True)]


def _limits(value: float, found: Floats, delta: float, t: float) -> ResamplingLimits | None:
    if not (np.isfinite(found).all() and np.isfinite(value)):
        return None
    bias, se = float(found.mean() - value), float(found.std(ddof=1))
    low, high = np.quantile(found, (delta / 2, 1 - delta / 2)).tolist()
    lows = low, 2 * value - high, value - t * se, value - bias - t * se
    highs = high, 2 * value - low, value + t * se, value - bias + t * se
    return ResamplingLimits(min(lows), max(highs), se, bias)


def draw_resamples(rows: ScoredRows, replicates: int, seed: int) -> Iterator[Copies]:
    """Yield `replicates` resamples, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    for _ in range(replicates):
        times = _resampled(rows.queries, rows.query, rng)
        within = np.ones(len(times))
        if rows.person is not None:
            within = _resampled(int(rows.person.max()) + 1, rows.person, rng)
        yield Copies(within, times)


def _resampled(number: int, codes: Codes, rng: np.random.Generator) -> Floats:
    """Draw `number` codes with replacement, and return the number of draws of each row's code."""
    times = np.bincount(rng.integers(0, number, number), minlength=number)
    return np.asarray(times[codes], np.float64)
