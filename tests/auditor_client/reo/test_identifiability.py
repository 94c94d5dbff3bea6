"""The point of the paper: without random traffic nobody can tell a fair world from an unfair one.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Example 3.1 (1/3 where 2/3 is printed) and Lemma C.3 (without its factor K).
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from auditor_client import reo
from auditor_client.errors import InputError
from tests.refusals import refuses

SHOWN = {"s1": 100, "s2": 100}


@dataclass(frozen=True)
class World:
    """All pairs of viewers and items: relevant ones by group, shown and not shown, and the rest."""

    hidden: dict[str, int]
    pairs: int = 200_200

    @property
    def relevant(self) -> dict[str, int]:
        return {name: SHOWN[name] + self.hidden[name] for name in SHOWN}

    def log(self) -> dict[str, int]:
        """Positives of what was shown: all that a platform without random traffic has."""
        return dict(SHOWN)

    def truth(self) -> float:
        u = np.array([SHOWN[name] / self.relevant[name] for name in SHOWN])
        return float(u.std() / u.mean())

    def random(self, rows: int, seed: int) -> dict[str, int]:
        """Positives among uniformly random pairs."""
        rng = np.random.default_rng(seed)
        shares = [self.relevant[name] / self.pairs for name in SHOWN]
        counts = rng.multinomial(rows, [*shares, 1 - sum(shares)])
        return dict(zip(SHOWN, counts[:-1].tolist(), strict=True))


FAIR, UNFAIR = World({"s1": 0, "s2": 0}), World({"s1": 100, "s2": 0})


def test_two_worlds_with_the_same_log_differ_in_equal_opportunity() -> None:
    assert FAIR.log() == UNFAIR.log()
    assert FAIR.truth() == 0
    assert UNFAIR.truth() == pytest.approx(1 / 3)


def test_random_traffic_tells_them_apart() -> None:
    for world in (FAIR, UNFAIR):
        found = reo.penalty(world.log(), world.random(3_000_000, seed=1))
        assert found.low <= world.truth() <= found.high
    assert reo.penalty(FAIR.log(), FAIR.random(3_000_000, seed=1)).low == 0
    assert reo.penalty(UNFAIR.log(), UNFAIR.random(3_000_000, seed=1)).low > 0


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
def test_hiding_relevant_items_of_one_group_makes_any_log_unfair(groups: int, alpha: float) -> None:
    u = np.ones(groups)
    u[0] = 1 / (1 + alpha)
    # Δ = α √(K - 1) / (1 + (1 + α)(K - 1))   [DJHL25, Lemma C.3, without its factor K]
    lemma = alpha * math.sqrt(groups - 1) / (1 + (1 + alpha) * (groups - 1))
    assert u.std() / u.mean() == pytest.approx(lemma)
    assert lemma > 0


def test_the_sdk_refuses_what_has_no_answer() -> None:
    for ask in (
        lambda: reo.penalty(SHOWN, None),
        lambda: reo.difference(SHOWN, SHOWN, None),
        lambda: reo.monitor({"1": SHOWN}, None),
        lambda: reo.stages(SHOWN, SHOWN, None),
    ):
        with refuses(InputError, "default-traffic-alone"):
            ask()
    # What needs no labels of unseen items has an answer.
    assert reo.parity(SHOWN, {"s1": 1_000, "s2": 1_000}).penalty == 0
