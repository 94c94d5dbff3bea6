"""The fairness gap of a release: estimate, interval, verdict.

    FG = max over pairs of groups and bins of |p_a,y - p_b,y|        [IKH23, def. 5.2]

`fairness_gap` turns noisy counts into the empirical gap (EFG) and limits that hold together with
probability at least 1 - delta, for any number of people and any shares, FG = 0 included:
P(FG < low) <= delta/2 and P(FG > high) <= delta/2. Sampling, noise and, where it was not known,
the number of scored people all count. The paper's promise is |EFG - FG| <= alpha (see `plan`); a
verdict needs more, and `inconclusive` is an honest one.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.1. The proof of the interval: docs/intervals.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from auditor_client import bounds
from auditor_client.contrasts import Group
from auditor_client.noise import Epsilon, as_rate
from auditor_client.sizes import GroupSize

Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True, slots=True)
class FairnessGap:
    """The gap as measured, its limits at confidence 1 - delta, and the cell that drives it.

    `groups` names the pair with the largest measured gap, the group with the larger share of `bin`
    first. `efg` is the raw estimate: noise may take it above `high`, or above 1, where `high` knows
    that shares lie between 0 and 1.
    """

    efg: float
    low: float
    high: float
    groups: tuple[str, str]
    bin: int
    delta: float

    def verdict(self, alpha: float) -> Verdict:
        """`fair` within alpha, `unfair` beyond it (each wrong in at most delta/2), or neither."""
        _check_alpha(alpha)
        if self.high <= alpha:
            return "fair"
        return "unfair" if self.low > alpha else "inconclusive"

    def explain(self, alpha: float) -> str:
        """The verdict in one plain sentence."""
        more, less = self.groups
        limits = f"between {self.low:.3f} and {self.high:.3f} (confidence {1 - self.delta:.0%})"
        cell = f"most in bin {self.bin}, where {more} has the larger share and {less} the smaller"
        start = {
            "fair": f"Fair within {alpha:g}: the gap is",
            "unfair": f"Unfair beyond {alpha:g}: the gap is",
            "inconclusive": f"Inconclusive at {alpha:g}: the gap may be anywhere",
        }[self.verdict(alpha)]
        return f"{start} {limits}, {cell}."


def fairness_gap(
    counts: Mapping[str, Sequence[int]],
    sizes: Mapping[str, int] | None = None,
    epsilon: Epsilon | None = 1.0,
    delta: float = 0.05,
    *,
    noisy_sizes: Mapping[str, int] | None = None,
    size_epsilon: Epsilon | None = None,
) -> FairnessGap:
    """The fairness gap from counts noised at `epsilon` per bin (discrete Laplace, scale 1/epsilon).

    `counts` hold every scored person once: pass the out-of-range count as one more bin. `sizes` are
    exact numbers of scored people; `noisy_sizes` were bought at `size_epsilon`. A group in neither
    is measured by the sum of its own bins. Never pass the number of people *uploaded*: if the bins
    account for only part of a size, the rest could be in any bin and `high` grows by that much.
    """
    tables = _checked_counts(counts)
    rate = as_rate(epsilon)
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, not {delta}")
    groups = _sizes(tables, rate, sizes or {}, noisy_sizes or {}, size_epsilon)
    efg, names, at = _largest(tables, groups)
    known = [Group(tables[name], groups[name], rate) for name in tables]
    high = bounds.above(known, delta)
    low = min(bounds.below(known, delta), high)
    return FairnessGap(efg, low, high, names, at, delta)


def _largest(
    tables: Mapping[str, tuple[int, ...]], groups: Mapping[str, GroupSize]
) -> tuple[float, tuple[str, str], int]:
    best: tuple[float, tuple[str, str], int] | None = None
    for y in range(len(next(iter(tables.values())))):
        shares = {name: tables[name][y] / groups[name].estimate for name in tables}
        more, less = max(shares, key=lambda k: shares[k]), min(shares, key=lambda k: shares[k])
        if best is None or shares[more] - shares[less] > best[0]:
            names = (more, less) if more != less else (more, next(n for n in tables if n != more))
            best = shares[more] - shares[less], names, y
    assert best is not None  # noqa: S101 - there is at least one bin
    return best


def _sizes(
    tables: Mapping[str, tuple[int, ...]],
    rate: float,
    sizes: Mapping[str, int],
    noisy_sizes: Mapping[str, int],
    size_epsilon: Epsilon | None,
) -> dict[str, GroupSize]:
    if strangers := (sizes.keys() | noisy_sizes.keys()) - tables.keys():
        raise ValueError(f"sizes name groups without counts: {', '.join(sorted(strangers))}")
    if noisy_sizes and size_epsilon is None:
        raise ValueError("noisy_sizes need the size_epsilon they were bought at")
    size_rate = as_rate(size_epsilon, "size_epsilon")
    found = {}
    for name, table in tables.items():
        known = None if name not in sizes else _integer(sizes[name], f"size of {name}")
        if known is None and math.isinf(rate):
            known = sum(table)
        noisy = None if name not in noisy_sizes else _integer(noisy_sizes[name], f"size of {name}")
        found[name] = GroupSize(sum(table), len(table), rate, known, noisy, size_rate)
    return found


def _checked_counts(counts: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    if len(counts) < 2:
        raise ValueError(f"a gap needs at least two groups, not {len(counts)}")
    tables = {
        name: tuple(_integer(value, f"count of {name}") for value in values)
        for name, values in counts.items()
    }
    lengths = {name: len(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        raise ValueError(f"every group needs the same number of bins, at least one: {lengths}")
    return tables


def _integer(value: object, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"the {what} must be a whole number, not {value!r}")
    number = int(value.__index__())
    if abs(number) > 10**12:
        raise ValueError(f"the {what} is too large: {number}")
    return number


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")
