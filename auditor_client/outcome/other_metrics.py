"""Two common metrics that do not require equal opportunity for equally qualified people (§5.4).

They are here for comparison: docs/explanation/outcome-test.md shows a fair platform that fails each
of them, and an unfair one that passes.
"""

from typing import Any

import numpy as np

from auditor_client.audiences.tables import open_columns
from auditor_client.outcome.log_reader import group_codes, numbers


def equalised_odds(frame: Any, *, score: str, outcome: str, group: str) -> dict[float, float]:
    """Return the distance of the groups' distributions of scores for each outcome: 0 if s ⊥ G | Y.

    The distance is the largest difference between two groups in the share of people with any one
    score.
    """
    table = open_columns(frame, [score, outcome, group])
    names, groups = group_codes(table, group)
    scores, outcomes = numbers(table, score), numbers(table, outcome)
    levels, level_index = np.unique(scores, return_inverse=True)
    found = {}
    for value in np.unique(outcomes):
        here = outcomes == value
        counts = np.zeros((len(names), len(levels)))
        np.add.at(counts, (groups[here], level_index[here]), 1.0)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        found[float(value)] = float((shares.max(axis=0) - shares.min(axis=0)).max())
    return found


def precision(
    frame: Any, *, score: str, outcome: str, group: str, threshold: float
) -> dict[str, float]:
    """Return the average outcome, in each group, of people whose score reaches the threshold."""
    table = open_columns(frame, [score, outcome, group])
    names, groups = group_codes(table, group)
    treated = numbers(table, score) >= threshold
    outcomes = numbers(table, outcome)
    return {
        name: float(outcomes[treated & (groups == g)].mean())
        if (treated & (groups == g)).any()
        else np.nan
        for g, name in enumerate(names)
    }
