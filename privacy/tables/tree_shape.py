"""Shape of a tree of counts: its branching and its number of levels, from the number of leaves.

The scale of the noise follows from the number of levels, so the verifier of the ledger needs it.
"""


def best_branching(leaves: int) -> int:
    """Return the branching with the smallest bound on the error of a cumulative count."""
    candidates = sorted({min(b, max(2, leaves)) for b in (2, 3, 4, 5, 8, 10, 16, 32)})
    return min(candidates, key=lambda b: levels(leaves, b) * nodes_of_prefix(leaves, b) ** 0.5)


def levels(leaves: int, branching: int) -> int:
    """Return the number of levels, including the root and the leaves."""
    height, reached = 1, 1
    while reached < leaves:
        height, reached = height + 1, reached * branching
    return height


def nodes_of_prefix(leaves: int, branching: int) -> int:
    """Return the largest number of nodes that a cumulative count needs: all but one on each level
    below the root.
    """
    return max(1, (levels(leaves, branching) - 1) * (branching - 1))


def tail_variances(leaves: int) -> tuple[float, float]:
    """Return the worst variance of a count above an edge: of a tree, and of noisy bins.

    The unit is the variance of one noisy bin at the same epsilon. A tree divides epsilon among its
    levels, and a count above an edge takes the root less a running count. Of noisy bins, the side
    of the edge with fewer of them is counted.
    """
    branching = best_branching(leaves)
    nodes = nodes_of_prefix(leaves, branching)
    return levels(leaves, branching) ** 2 * (1 + nodes**0.5) ** 2, float(max(leaves // 2, 1))
