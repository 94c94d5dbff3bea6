"""The paper's assumptions after an audit, in words."""

from typing import Any

from auditor_client.fairness.assumption_checks import Assumption
from tests.auditor_client.examples import finished, price


def checked(counts: dict[str, list[int]], **options: Any) -> dict[str, Assumption]:
    found = finished(counts, **options).assumptions()
    return {assumption.name: assumption for assumption in found}


def test_a_large_balanced_audit_meets_what_can_be_checked() -> None:
    sizes = {"g0": 4000, "g1": 4000}
    counts = {"g0": [2000, 2000, 0], "g1": [2100, 1900, 0]}
    found = checked(counts, kind="known", sizes=sizes, paid=price(1.0, None))
    assert [a.holds for a in found.values()] == [True] * 6 + [None] * 3
    # 8/.04 · ln(3·2·3/.05) = 1177.2
    assert "asks for 1178" in found["enough people for Theorem 1"].words


def test_a_small_unbalanced_audit_gets_a_warning() -> None:
    counts = {"g0": [20, 20, 0], "g1": [2100, 1900, 0]}
    found = checked(counts, kind="noisy", sizes={"g0": 40, "g1": 4000})
    assert found["enough people for Theorem 1"].holds is False
    assert "is still valid" in found["enough people for Theorem 1"].words
    assert found["groups in balance"].holds is False
    assert "more people in that group help most" in found["groups in balance"].words


def test_nobody_and_people_in_no_bin_are_distinguished() -> None:
    found = checked({"g0": [0, 0, 0], "g1": [0, 0, 0]}, kind="bins", paid=price(1.0, None))
    assert found["people in every group"].holds is False
    sizes = {"g0": 400, "g1": 400}
    short = checked({"g0": [50, 50, 0], "g1": [190, 200, 9]}, kind="known", sizes=sizes)
    assert short["everybody is in a bin"].holds is False
    assert "man" in short["everybody is in a bin"].words


def test_scores_outside_and_other_noise_are_named() -> None:
    sizes = {"g0": 400, "g1": 400}
    counts = {"g0": [150, 150, 100], "g1": [200, 200, 0]}
    paid = price(1.0, None, "discrete-gaussian")
    found = checked(counts, kind="known", sizes=sizes, paid=paid)
    assert found["scores inside the bins"].holds is False
    assert found["noise as in Theorem 1"].holds is False
    assert "discrete gaussian" in found["noise as in Theorem 1"].words
