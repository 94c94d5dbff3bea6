"""Overflow: noise that would take a release out of the range of integers in JSON.

A release is canonical JSON, whose integers lie within ±(2⁵³ − 1). `Table.plus` clips every noisy
number to that range, so that any draw can be encoded. Clipping is post-processing and costs no
privacy, but a clipped number is wrong by an unknown amount. A plan is therefore refused, before
anything is charged, if any number of its release would be clipped with probability above 2⁻⁴⁰.

The bound. Let L = 2⁵³ − 1, let M be the largest magnitude of a true value (the number of people
times `bounds.added.linf`), and let n be the number of noisy cells of all tables of the plan.
By the union bound it is enough that P(|noise on one cell| > L − M) ≤ 2⁻⁴⁰ / n.

    Laplace, scale b      P(|X| > t) ≤ 2 exp(−t/b)          needs   t / b ≥ ln(2n · 2⁴⁰)
    Gaussian, scale σ     P(|X| > t) ≤ 2 exp(−t²/2σ²)       needs   t²/2σ² ≥ ln(2n · 2⁴⁰)

A cumulative count of a tree is w·(noise of N nodes) with |w|₂ ≤ `worst_prefix`, so its error is at
most worst_prefix · √N times the largest noise of a node (Cauchy–Schwarz). Report noisy max releases
an index; the rule of Laplace noise keeps its scale and its quoted error within range.

The scale and both errors of a quote are below L by the same rule: ln(2n · 2⁴⁰) is at least 28.

Encrypted sums are exact integers of any size, and are not numbers of the release. There, the error
of a quote must be within L: it is −b·ln(0.025) < 4b. OpenDP saturates noise at 2⁶³ − 1, which must
not happen either: by the rule above with t = 2⁶³ − 1.

[CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020
        (tails of the discrete Laplace and the discrete Gaussian distribution).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from privacy.canonical import LARGEST
from privacy.waist.gaussian import DiscreteGaussian
from privacy.waist.laplace import DiscreteLaplace
from privacy.waist.selection import NoisyMax
from privacy.waist.tree import LaplaceTree, worst_prefix

Priced = DiscreteLaplace | DiscreteGaussian | LaplaceTree | NoisyMax
# Negative binary logarithm of the probability that a release is clipped.
NEGLIGIBLE_BITS = 40
# Above ln 2 = 0.6931…, so that exponents computed from binary digits are never too small.
_LN_2 = Fraction(7, 10)
_MILLION = 1_000_000
# Where OpenDP saturates noise.
_SATURATED = 2**63 - 1


@dataclass(frozen=True)
class Overflow:
    """Table whose noise may leave the range, and the smallest parameter for which it does not.

    `smallest` is in whole millionths, like parameters of requests; None if the true values alone
    leave the range.
    """

    table: str
    parameter: Literal["epsilon", "rho"]
    given: Fraction
    smallest: Fraction | None


# Cached, because few of the many requested prices differ.
@lru_cache(maxsize=1_024)
def find_overflow(
    plan: tuple[tuple[str, object], ...], people: int, *, encrypted: bool = False
) -> Overflow | None:
    """Return the first table that may overflow with at most this number of people, or None.

    `encrypted`: the tables are ciphertexts, to which Laplace noise is added. Raise `TypeError` for
    a mechanism with an unknown tail.
    """
    mechanisms = [(table, _known(mechanism)) for table, mechanism in plan]
    exponent = _exponent(sum(_noisy_cells(mechanism) for _, mechanism in mechanisms))
    for table, mechanism in mechanisms:
        if encrypted:
            smallest: Fraction | None = _smallest_encrypted(mechanism, exponent)
        else:
            room = LARGEST - people * _largest_step(mechanism)
            smallest = _smallest(mechanism, room, exponent) if room > 0 else None
        name, given = _parameter(mechanism)
        if smallest is None or given < smallest:
            return Overflow(table, name, given, smallest)
    return None


def _known(mechanism: object) -> Priced:
    if not isinstance(mechanism, Priced):
        raise TypeError(f"the tail of {type(mechanism).__name__} is unknown")
    return mechanism


def _exponent(cells: int) -> Fraction:
    """Return a number that is not below ln(2 · cells · 2⁴⁰)."""
    return (cells.bit_length() + 1 + NEGLIGIBLE_BITS) * _LN_2


def _noisy_cells(mechanism: Priced) -> int:
    return (mechanism.nodes if isinstance(mechanism, LaplaceTree) else mechanism).bounds.cells


def _largest_step(mechanism: Priced) -> int:
    """Return the largest change of one released number by one person; all their leaves change a
    cumulative count.
    """
    added = mechanism.bounds.added
    return added.l1 if isinstance(mechanism, LaplaceTree) else added.linf


def _smallest(mechanism: Priced, room: int, exponent: Fraction) -> Fraction:
    """Return the smallest parameter for which noise stays within `room`, in whole millionths."""
    match mechanism:
        case DiscreteGaussian():
            # rho = Δ² / 2σ², and room² / 2σ² ≥ exponent   [CKS20]
            exact = exponent * mechanism.bounds.added.l2_squared / Fraction(room) ** 2
        case DiscreteLaplace():
            # epsilon = Δ / b, and room / b ≥ exponent   [CKS20]
            exact = exponent * mechanism.bounds.added.l1 / room
        case LaplaceTree():
            nodes = mechanism.nodes
            spread = worst_prefix(mechanism.leaves, mechanism.branching)
            factor = math.ceil(spread * math.sqrt(nodes.bounds.shape[1]))
            exact = exponent * factor * nodes.bounds.added.l1 / room
        case NoisyMax():
            exact = exponent * 2 * mechanism.bounds.added.linf / room
    return _millionths(exact)


def _smallest_encrypted(mechanism: Priced, exponent: Fraction) -> Fraction:
    """Return the smallest epsilon for which a quote is in range and noise is not saturated."""
    return _millionths(mechanism.bounds.added.l1 * max(Fraction(4, LARGEST), exponent / _SATURATED))


def _millionths(exact: Fraction) -> Fraction:
    """Return the smallest parameter of a request that is not below this value."""
    return Fraction(max(1, math.ceil(exact * _MILLION)), _MILLION)


def _parameter(mechanism: Priced) -> tuple[Literal["epsilon", "rho"], Fraction]:
    if isinstance(mechanism, DiscreteGaussian):
        return "rho", mechanism.rho
    return "epsilon", mechanism.epsilon
