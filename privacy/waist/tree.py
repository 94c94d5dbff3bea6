"""Noisy cumulative counts of ordered bins: a tree of counts, made consistent, by OpenDP.

Unit: one person. `bounds` are those of the leaves; a person counts in every node above one of
their leaves, one per level, so the tree changes by levels · reach in L1.
Guarantee: as for discrete Laplace noise of scale levels · added / epsilon on every node. Making the
nodes consistent (children sum to their parent) is post-processing, and so is clipping nodes and
cumulative counts to ±(2⁵³ − 1), so that every draw can be encoded (`overflow`).

Noise on each cumulative count, as eq. 5 of [IKH23] suggests, is not private at that price: one
person changes all cumulative counts above their score.

[HRMS10] Hay, Rastogi, Miklau, Suciu, Boosting the Accuracy of Differentially Private Histograms
         Through Consistency, VLDB 2010.
[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.1, eq. 5.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from opendp.metrics import l1_distance
from opendp.transformations import make_b_ary_tree, make_consistent_b_ary_tree

from privacy.tables.bounded_table import Bounds, Reach, Table
from privacy.tables.price import ExactPrice
from privacy.tables.tree_shape import best_branching, levels, nodes_of_prefix
from privacy.waist.calibration import integer_domain
from privacy.waist.laplace import DiscreteLaplace

__all__ = ["LaplaceTree", "best_branching", "levels", "nodes_of_prefix", "worst_prefix"]

_EXACT_LEAVES = 200


@dataclass(frozen=True)
class LaplaceTree:
    """Tree over the last axis of a table, calibrated to an epsilon under add/remove."""

    bounds: Bounds
    epsilon: Fraction
    name: ClassVar[str] = "laplace-tree"

    @property
    def parameter(self) -> Fraction:
        return self.epsilon

    @property
    def price(self) -> ExactPrice:
        return self.nodes.price

    @property
    def scale(self) -> float:
        return self.nodes.scale

    @property
    def standard_deviation(self) -> float:
        """Return the standard deviation of the worst consistent cumulative count."""
        return self.nodes.standard_deviation * worst_prefix(self.leaves, self.branching)

    def error(self, probability: float) -> int:
        """Return a t with P(|error of one cumulative count| > t) ≤ probability, by Chebyshev."""
        return int(np.ceil(self.standard_deviation / np.sqrt(probability)))

    def release(self, table: Table) -> NDArray[np.float64]:
        """Return consistent counts of the leaves, whose cumulative sums are the noisy CDF."""
        tree, consistent = _tree(self.leaves, self.branching), _consistent(self.branching)
        rows = [tree(row) for row in table.cells.reshape(-1, self.leaves)]
        noisy = self.nodes.release(Table(self.nodes.bounds, np.array(rows, np.int64)))
        released = [consistent(row) for row in noisy]
        return np.asarray(released, np.float64).reshape(self.bounds.shape)

    @property
    def leaves(self) -> int:
        return self.bounds.shape[-1]

    @cached_property
    def branching(self) -> int:
        return best_branching(self.leaves)

    @cached_property
    def nodes(self) -> DiscreteLaplace:
        """The mechanism on all nodes of the trees of all rows."""
        tree = _tree(self.leaves, self.branching)
        height = tree.map(1)
        rows = int(np.prod(self.bounds.shape[:-1]))
        count = len(tree(np.zeros(self.leaves, np.int64)))
        added, changed = (_tree_reach(r, height) for r in (self.bounds.added, self.bounds.changed))
        return DiscreteLaplace(Bounds((rows, count), added, changed), self.epsilon)


def _tree_reach(reach: Reach, height: int) -> Reach:
    """Return the sensitivity of the tree: each unit at a leaf changes one node per level."""
    return Reach(reach.l1 * height, reach.l1**2 * height, reach.l1)


@lru_cache(maxsize=256)
def _tree(leaves: int, branching: int) -> Any:
    return make_b_ary_tree(
        integer_domain(), l1_distance(T="i64"), leaf_count=leaves, branching_factor=branching
    )


@lru_cache(maxsize=256)
def _consistent(branching: int) -> Any:
    return make_consistent_b_ary_tree(branching, TIA="i64", TOA="f64")


@lru_cache(maxsize=256)
def worst_prefix(leaves: int, branching: int) -> float:
    """Return the standard deviation of the worst consistent cumulative sum, for unit noise on every
    node.

    It is exact for a few hundred leaves, and a bound beyond: least squares is never worse than the
    sum of the nodes that make up the prefix. Consistency is least squares [HRMS10]: with A the
    nodes-by-leaves incidence matrix, the leaves have covariance (AᵀA)⁻¹, and (AᵀA)ᵢⱼ is the number
    of nodes above both i and j.
    """
    if leaves > _EXACT_LEAVES:
        return float(np.sqrt(nodes_of_prefix(leaves, branching)))
    leaf = np.arange(leaves)
    shared = np.zeros((leaves, leaves))
    for level in range(levels(leaves, branching)):
        node = leaf // branching**level
        shared += node[:, None] == node[None, :]
    running = np.tril(np.ones((leaves, leaves)))
    half = np.linalg.solve(np.linalg.cholesky(shared), running.T)
    return float(np.sqrt(np.max(np.sum(half**2, axis=0))))
