import math

import pytest

from api.kinds.envy_freeness.algorithms import TermsError, audit_size, exact, probabilistic


def test_the_paper_s_parameters_need_41_targets_and_75_arms() -> None:
    assert audit_size(0.05, 0.1, 0.1) == (41, 75)


def test_samples_miss_with_a_third_of_delta() -> None:
    """The purpose of the two numbers, from the definitions rather than from their formulas."""
    for delta, gamma, lam in [(0.05, 0.1, 0.1), (0.2, 0.3, 0.05), (0.01, 0.02, 0.4)]:
        targets, arms = audit_size(delta, gamma, lam)
        assert (1 - lam) ** targets <= math.exp(-lam * targets) <= delta / 3
        assert targets * (1 - gamma) ** arms <= delta / 3
        assert targets * (1 - gamma) ** (arms - 1) > delta / 3


def test_each_target_runs_at_its_share_of_delta() -> None:
    size = probabilistic(10_000, 0.05, 0.1, 0.1)
    assert (size.targets, size.arms, size.level) == (41, 75, 0.05 / 123)


def test_where_there_are_fewer_people_all_take_part() -> None:
    size = probabilistic(30, 0.05, 0.1, 0.1)
    assert (size.targets, size.arms) == (30, 29)


def test_everybody_against_everybody_else() -> None:
    size = exact(200, 0.05)
    assert (size.targets, size.arms, size.level) == (200, 199, 0.05 / 200)


def test_one_person_envies_nobody() -> None:
    with pytest.raises(TermsError, match=r"\b2\b.*\b1\b"):
        exact(1, 0.05)


@pytest.mark.parametrize("bad", [0.0, 1.0, -1.0, float("nan")])
def test_shares_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(TermsError, match="gamma"):
        audit_size(0.05, bad, 0.1)
    with pytest.raises(TermsError, match="lam"):
        audit_size(0.05, 0.1, bad)
