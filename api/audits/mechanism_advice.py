"""Advice on mechanisms: which one has the smaller error at the same debit, and why.

It uses only the request and public facts. It costs nothing, and the auditor need not follow it.
"""

import math
from fractions import Fraction

from openapi.resources import Advice, AuditRequest, EitherNoise, Price, ScoreCdfRequest
from privacy.tables.tree_shape import tail_variances
from privacy.waist import LaplaceTree, Mechanism, NoisyMax, ReleasePlan


def advise(request: AuditRequest, plan: ReleasePlan, price: Price) -> Advice:
    mechanism = next(iter(plan.values()))
    if isinstance(mechanism, NoisyMax):
        return Advice(
            mechanism="report-noisy-max",
            why="only the index is released: one price for all contents, not one for each",
        )
    if isinstance(mechanism, LaplaceTree):
        scores = isinstance(request, ScoreCdfRequest)
        return _above_edges(mechanism) if scores else _cumulative(mechanism)
    if price.currency == "rho" and isinstance(request, EitherNoise):
        return _noise(mechanism)
    return Advice(
        mechanism="discrete-laplace",
        why="it has a pure epsilon, and its noise is exact in whole numbers",
    )


def _noise(mechanism: Mechanism) -> Advice:
    """Return the better of Laplace and Gaussian noise for the same debit in rho."""
    debit, changed = float(mechanism.price.debit("rho")), mechanism.bounds.changed
    # σ² = Δ₂² / 2 rho; for Laplace epsilon = sqrt(2 rho), scale = Δ₁ / epsilon, σ = √2 · scale.
    gaussian = math.sqrt(changed.l2_squared / (2 * debit))
    laplace = math.sqrt(2) * changed.l1 / math.sqrt(2 * debit)
    better = "discrete-gaussian" if gaussian < laplace else "discrete-laplace"
    return Advice.model_validate(
        {
            "mechanism": better,
            "why": f"for the same debit in rho the standard deviation is {gaussian:.2f} with "
            f"Gaussian noise and {laplace:.2f} with Laplace noise",
        }
    )


def _above_edges(tree: LaplaceTree) -> Advice:
    """Compare a tree with a score histogram at one epsilon, on the share above the worst edge."""
    leaves = tree.bounds.shape[-1]
    epsilon = Fraction(tree.price.amount("epsilon", "add-remove"))
    one = math.sqrt(2) * tree.bounds.added.l1 / float(epsilon)
    of_tree, of_bins = (one * math.sqrt(variance) for variance in tail_variances(leaves))
    if of_tree < of_bins:
        return Advice(
            mechanism="laplace-tree",
            why=f"the number of people above an edge is off by at most {of_tree:.1f} (one standard"
            f" deviation), that of a score histogram by {of_bins:.1f}",
        )
    return Advice(
        mechanism="discrete-laplace",
        why=f"request a score-histogram instead. For the same epsilon and these {leaves - 1} bins,"
        f" its number of people above an edge is off by at most {of_bins:.1f} (one standard"
        f" deviation). The number of a score-cdf is off by at most {of_tree:.1f}",
    )


def _cumulative(tree: LaplaceTree) -> Advice:
    """Return the better of a tree and running sums of separately noised bins, at one epsilon."""
    leaves = tree.bounds.shape[-1]
    epsilon = Fraction(tree.price.amount("epsilon", "add-remove"))
    flat = math.sqrt(2 * leaves) * tree.bounds.added.l1 / float(epsilon)
    if tree.standard_deviation <= flat:
        return Advice(
            mechanism="laplace-tree",
            why=f"the worst running count is off by {tree.standard_deviation:.1f} (one standard "
            f"deviation), the running sum of noisy bins by {flat:.1f}",
        )
    return Advice(
        mechanism="discrete-laplace",
        why=f"for {leaves - 1} bins the running sum of noisy bins is off by {flat:.1f}, the tree "
        f"by {tree.standard_deviation:.1f}",
    )
