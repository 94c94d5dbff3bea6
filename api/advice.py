"""Which mechanism answers a question better at the same debit, and why.

Only what the request and public facts say is used; the advice costs nothing and binds nobody.
"""

import math
from fractions import Fraction

from openapi.models import (
    Advice,
    MatchCountRequest,
    MostSkewedRequest,
    Price,
    ScoreCdfRequest,
    ScoreHistogramRequest,
)
from privacy.waist import DiscreteGaussian, Mechanism, Question

Request = ScoreHistogramRequest | ScoreCdfRequest | MatchCountRequest | MostSkewedRequest


def advise(request: Request, question: Question, price: Price) -> Advice:
    if isinstance(request, MostSkewedRequest):
        return Advice(
            mechanism="report-noisy-max",
            why="only the index leaves: one price for all contents, not one for each",
        )
    mechanism = next(iter(question.values()))
    if isinstance(request, ScoreCdfRequest):
        return _cumulative(mechanism)
    if price.currency == "rho":
        return _noise(mechanism)
    return Advice(
        mechanism="discrete-laplace",
        why="the mandate is in epsilon, which Gaussian noise has none of",
    )


def _noise(mechanism: Mechanism) -> Advice:
    """At one rho, Laplace of scale b on k cells a person against Gaussian of the same debit."""
    rho = Fraction(mechanism.price.of("rho", "add-remove"))
    gaussian = DiscreteGaussian(mechanism.bounds, rho).standard_deviation
    # Laplace noise of this rho: epsilon = sqrt(2 rho), scale = added / epsilon, σ = √2 · scale.
    laplace = math.sqrt(2) * mechanism.bounds.added.l1 / math.sqrt(2 * rho)
    if gaussian < laplace:
        return Advice(
            mechanism="discrete-gaussian",
            why=f"at the same rho its standard deviation is {gaussian:.2f}, not {laplace:.2f}",
        )
    return Advice(
        mechanism="discrete-laplace",
        why=f"at the same rho its standard deviation is {laplace:.2f}, not {gaussian:.2f}",
    )


def _cumulative(tree: Mechanism) -> Advice:
    """A tree against running sums of separately noised bins, at one epsilon."""
    leaves = tree.bounds.shape[-1]
    epsilon = Fraction(tree.price.of("epsilon", "add-remove"))
    flat = math.sqrt(2 * leaves) * tree.bounds.added.l1 / float(epsilon)
    if tree.standard_deviation <= flat:
        return Advice(
            mechanism="laplace-tree",
            why=f"the worst running count is off by {tree.standard_deviation:.1f} (one standard "
            f"deviation), the running sum of noisy bins by {flat:.1f}",
        )
    return Advice(
        mechanism="discrete-laplace",
        why=f"for {leaves - 1} bins the running sum of a score-histogram is off by {flat:.1f}, the "
        f"tree by {tree.standard_deviation:.1f}",
    )
