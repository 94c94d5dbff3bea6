"""An audience of one person and strangers: is this person on the platform?"""

import numpy as np
import pytest

from privacy.price import ADD_REMOVE
from privacy.waist import DiscreteLaplace
from tests.attacks.advantage import advantage, allowed, margin
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import Case, claimed, statistics

RUNS = 3_000
KINDS = [
    case
    for case in cases()
    if case.relation == ADD_REMOVE and case.currency == "epsilon" and "skewed" not in case.name
]


def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that forgets the noise."""
    monkeypatch.setattr(
        DiscreteLaplace, "noise", lambda self: np.zeros(self.bounds.shape, np.int64)
    )


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_the_advantage_is_within_what_epsilon_allows(case: Case) -> None:
    # False failure: 1e-7 for each look.
    for one, other in statistics(case, RUNS).values():
        assert advantage(one, other) <= allowed(claimed(case)) + margin(RUNS)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case.name)
def test_without_noise_membership_is_certain(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch)
    for one, other in statistics(case, 200).values():
        assert advantage(one, other) == 1
