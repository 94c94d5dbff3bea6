"""The most skewed content: what is compared, and how far one person moves it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from api.kernel.errors import UnsupportedAuditError
from api.kinds.context import in_process_context
from api.kinds.most_skewed import SKEW, MostSkewed
from api.kinds.registry import AudienceFacts
from api.platforms.interfaces import Persons, Platform
from openapi.resources import MostSkewedRequest
from privacy.tables.bounded_table import Reach
from privacy.tables.membership import Membership

KIND = MostSkewed()
FACTS = AudienceFacts(("g0", "g1"), 1, None)
WEIGHTS = [[1, 1], [3, 5], [5, 3], [1, 7]]


class Columns:
    """A platform on which person n scores 0 or 1 by bit of n, another for every content."""

    model_digest = "sha256:" + "0" * 64
    score_range = (0.0, 1.0)
    context: Mapping[str, list[str | float]] = {}

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        return np.asarray(persons >> content["bit"] & 1, np.float64)


PLATFORM = Platform("bits", people=None, scores=Columns())  # type: ignore[arg-type]
CONTENTS = [{"bit": bit} for bit in range(3)]


def asked(weights: list[int], **changes: Any) -> MostSkewedRequest:
    fields = {
        "kind": "most-skewed",
        "audience_id": "audience_" + "0" * 30,
        "contents": ["content_" + "0" * 30] * len(CONTENTS),
        "bins": {"levels": [0, 1]},
        "weights": weights,
        "epsilon": "1",
    }
    return MostSkewedRequest.model_validate(fields | changes)


def skews(weights: list[int], first: list[int], second: list[int]) -> list[int]:
    request = asked(weights)
    membership = Membership((np.array(first, np.int64), np.array(second, np.int64)), 1)
    plan = KIND.plan(request, FACTS)
    made = KIND.reduce(request, plan, CONTENTS, membership, in_process_context(PLATFORM))
    found: list[int] = made[SKEW].cells.tolist()
    return found


def obvious(weights: list[int], first: list[int], second: list[int]) -> list[int]:
    def skew(bit: int) -> int:
        counts = [
            [sum((person >> bit & 1) == score for person in group) for score in (0, 1)]
            for group in (first, second)
        ]
        pairs: list[tuple[int, int]] = list(zip(*counts, strict=True))
        return max(abs(weights[0] * one - weights[1] * other) for one, other in pairs)

    return [skew(bit) for bit in range(len(CONTENTS))]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_skews_are_the_obvious_ones(weights: list[int]) -> None:
    first, second = [0, 1, 2, 3, 5, 7], [4, 6, 8, 9]
    assert skews(weights, first, second) == obvious(weights, first, second)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_reach_is_the_largest_weight_and_twice_that(weights: list[int]) -> None:
    bounds = KIND.plan(asked(weights), FACTS)[SKEW].bounds
    far, contents = max(weights), len(CONTENTS)
    assert bounds.added == Reach(contents * far, contents * far**2, far)
    assert bounds.changed == Reach(2 * contents * far, 4 * contents * far**2, 2 * far)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_some_person_moves_a_skew_by_all_that_is_priced_and_nobody_by_more(
    weights: list[int],
) -> None:
    bounds = KIND.plan(asked(weights), FACTS)[SKEW].bounds
    alone = np.array(skews(weights, [8], [9]))
    moved = [
        np.abs(np.array(skews(weights, *groups)) - alone).max()
        for person in range(8)
        for groups in (([person, 8], [9]), ([8], [person, 9]))
    ]
    assert max(moved) == bounds.added.linf == max(weights)
    # Somebody in the heavier group changes in everything: they leave one bin, and enter another.
    heavier = [[0], []] if weights[0] > weights[1] else [[], [0]]
    others = [[7 if person == 0 else person for person in group] for group in heavier]
    for before, after in zip(skews(weights, *heavier), skews(weights, *others), strict=True):
        assert abs(after - before) <= bounds.changed.linf


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_noise_is_twice_the_reach(weights: list[int]) -> None:
    """Values are not monotone: [MS20] asks for a scale of 2Δ / ε."""
    plan = KIND.plan(asked(weights, epsilon="0.5"), FACTS)
    assert plan[SKEW].scale == pytest.approx(2 * max(weights) / 0.5)


@pytest.mark.parametrize(
    "facts",
    [
        AudienceFacts(("g0", "g1"), 2, None),
        AudienceFacts(("g0",), 1, None),
        AudienceFacts(("g0", "g1", "g2"), 1, None),
    ],
)
def test_it_takes_two_groups_and_everybody_in_one(facts: AudienceFacts) -> None:
    KIND.check(asked([1, 1]), FACTS, PLATFORM)
    with pytest.raises(UnsupportedAuditError):
        KIND.check(asked([1, 1]), facts, PLATFORM)
