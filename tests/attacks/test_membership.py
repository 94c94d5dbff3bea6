"""An audience of one person and strangers: is this person on the platform?"""

import numpy as np
import pytest

from privacy.tables.price import ADD_REMOVE
from privacy.waist import DiscreteGaussian, DiscreteLaplace, NoisyMax
from tests.attacks.advantage import advantage, allowed, allowed_by_rho, margin
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import Case, claimed, statistics

pytestmark = pytest.mark.long

RUNS = 3_000
KINDS = [case for case in cases() if case.relation == ADD_REMOVE]


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that forgets the noise."""
    for additive in (DiscreteLaplace, DiscreteGaussian):
        monkeypatch.setattr(additive, "noise", lambda self: np.zeros(self.bounds.shape, np.int64))
    # Of those that are equal, the last.
    monkeypatch.setattr(
        NoisyMax, "release", lambda _, table: len(table.cells) - 1 - np.argmax(table.cells[::-1])
    )


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_the_advantage_is_within_what_epsilon_allows(case: Case) -> None:
    limit = allowed if case.currency == "epsilon" else allowed_by_rho
    runs = max(400, int(RUNS * case.share))
    # False failure: 1e-7 for each look.
    for one, other in statistics(case, runs).values():
        assert advantage(one, other) <= limit(claimed(case)) + margin(runs)


# The worst neighbours of a selection with weights have the same winner: without noise it is silent.
SILENT = [case for case in KINDS if case.name.startswith("weights")]
TELLING = [case for case in KINDS if case not in SILENT]


@pytest.mark.parametrize("case", SILENT, ids=lambda case: case.name)
def test_a_selection_is_silent_only_if_its_winner_is_the_same(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence(monkeypatch)
    assert max(advantage(*sides) for sides in statistics(case, 200).values()) == 0


@pytest.mark.parametrize("case", TELLING, ids=lambda case: case.name)
def test_without_noise_membership_is_certain(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one way to look at least: what a ciphertext is flooded with is not what keeps it."""
    silence(monkeypatch)
    assert max(advantage(*sides) for sides in statistics(case, 200).values()) == 1
