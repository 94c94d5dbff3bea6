"""Projection of noisy counts to non-negative counts with a given total, at no privacy cost.

The projection uses only released numbers, so it spends nothing. It is for readers who need shares
between 0 and 1. Intervals and verdicts never use it: clipping at 0 biases small counts upwards.

[WC13] Wang, Carreira-Perpiñán, Projection onto the probability simplex, arXiv:1309.1541, §2.
"""

from collections.abc import Sequence
from fractions import Fraction


def project_to_total(counts: Sequence[int | Fraction], total: int | Fraction) -> list[Fraction]:
    """Return the point of {x ≥ 0, Σx = total} nearest to the counts (least squares), exactly.

    If the true counts are in this set, the result is at most as far from them as the noisy counts
    are. A total below 0, which noise may cause, counts as 0.
    """
    total = max(Fraction(total), Fraction(0))
    shift = _shift(sorted(map(Fraction, counts), reverse=True), total)
    return [max(count + shift, Fraction(0)) for count in counts]


def _shift(largest_first: list[Fraction], total: Fraction) -> Fraction:
    """Return the constant to add to every count before clipping at 0.

    It is the last of (total - sum of the j largest) / j for which the j-th largest stays above
    0.
    """
    # λ = (1 − Σ_{i≤ρ} u_i) / ρ, ρ = max{j : u_j + (1 − Σ_{i≤j} u_i) / j > 0}   [WC13, Alg. 1]
    above = Fraction(0)
    shift = -largest_first[0]
    for number, count in enumerate(largest_first, start=1):
        above += count
        if count + (total - above) / number <= 0:
            break
        shift = (total - above) / number
    return shift
