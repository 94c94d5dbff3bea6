"""The toy examples of paper 3 as known answers: §3.4, §3.5 and §5.4 with its counter-examples."""

import pyarrow as pa
import pytest

from auditor_client import outcome
from tests.auditor_client.outcome.logs import COLUMNS, run_test, toy

# Those hired in Figures 1 and 2: units of people by true qualification.
FIGURE_1 = {"O": {0.6: 2, 0.8: 1, 1.0: 1}, "X": {0.6: 4, 0.8: 5, 1.0: 3}}
FIGURE_2 = {"O": {0.6: 2, 0.8: 1, 1.0: 1}, "X": {0.6: 3, 0.8: 4, 1.0: 5}}
# Figure 3: O is hired from .4 on, X from .8 on; in scores, at one threshold of .6.
FIGURE_3 = {"O": {0.4: 2, 0.6: 3, 0.8: 2, 1.0: 1}, "X": {0.8: 3, 1.0: 2}}
STANDARDS = {"O": 0.2, "X": -0.2}
EDGES = [0.6, 0.7, 0.9, 1.3]


@pytest.mark.parametrize(
    ("people", "averages"),
    [(FIGURE_1, {"O": 0.75, "X": 0.7833}), (FIGURE_2, {"O": 0.75, "X": 0.8333})],
)
def test_averages_differ_although_standards_are_the_same(
    people: dict[str, dict[float, int]], averages: dict[str, float]
) -> None:
    table = toy(people)
    found = outcome.precision(table, **COLUMNS, threshold=0.6)
    assert found == pytest.approx(averages, abs=5e-5)
    marginal = run_test(table, bins=EDGES, threshold=0.6)
    assert [each.mean for each in marginal.marginals if each.bin == 0] == pytest.approx([0.6, 0.6])
    assert marginal.family()[0].estimate == pytest.approx(0)
    assert marginal.verdict(0.1) == "fair"


def test_marginal_outcomes_show_different_standards() -> None:
    found = run_test(toy(FIGURE_3, STANDARDS), bins=[0.59, *EDGES[1:]], threshold=0.59)
    assert [each.mean for each in found.marginals if each.bin == 0] == pytest.approx([0.4, 0.8])
    assert found.family()[0].estimate == pytest.approx(0.4)
    assert found.verdict(0.1) == "unfair"
    assert "under-predict X relative to O" in found.words(0.1)[1]


def test_equalised_odds_calls_a_fair_score_unfair() -> None:
    # §5.4.1.1: s = q, and everybody with q >= .6 is invited
    people = {"O": {0.2: 3, 0.4: 2, 0.6: 1, 0.8: 2}, "X": {0.2: 1, 0.4: 2, 0.6: 3, 0.8: 2}}
    table = toy(people)
    invited = pa.array([float(q >= 0.6) for q in table["q"].to_pylist()])
    table = table.set_column(2, "outcome", invited)
    odds = outcome.equalised_odds(table, **COLUMNS)
    assert min(odds.values()) > 0.2
    found = run_test(table, bins=[0.1, 0.3, 0.5, 0.7, 0.9])
    assert all(each.estimate == pytest.approx(0) for each in found.effects)
    assert found.verdict(0.05) == "fair"


def test_equalised_odds_calls_an_unfair_score_fair() -> None:
    # In place of §5.4.1.2, which cannot hold as printed: P(hi|Y=1) = .8, P(hi|Y=0) = .2, base
    # rates .8 and .2
    rows = [
        {"group": group, "outcome": float(y), "score": score}
        for group, base in (("a", 0.8), ("b", 0.2))
        for y in (0, 1)
        for score in (0.25, 0.75)
        for _ in range(
            round(2500 * (base if y else 1 - base) * (0.8 if (score > 0.5) == y else 0.2))
        )
    ]
    table = pa.Table.from_pylist(rows)
    odds = outcome.equalised_odds(table, **COLUMNS)
    assert max(odds.values()) == pytest.approx(0, abs=1e-12)
    found = run_test(table, bins=[0, 0.5, 1])
    means = {(each.group, each.bin): each.mean for each in found.marginals}
    assert means["a", 1] == pytest.approx(0.9412, abs=5e-5)
    assert means["b", 1] == pytest.approx(0.5)
    assert means["a", 0] == pytest.approx(0.5)
    assert means["b", 0] == pytest.approx(0.0588, abs=5e-5)
    assert found.verdict(0.1) == "unfair"


def test_equal_precision_hides_a_higher_standard() -> None:
    # §5.4.2.2: s = q - .2 for X
    people = {"O": {0.6: 1, 0.8: 1, 1.0: 4}, "X": {0.6: 2, 0.8: 3, 1.0: 3}}
    table = toy(people, {"X": -0.2})
    found = outcome.precision(table, **COLUMNS, threshold=0.6)
    assert found == pytest.approx({"O": 0.9, "X": 0.9})
    marginal = run_test(table, bins=[0.3, *EDGES], threshold=0.6)
    assert marginal.family()[0].estimate == pytest.approx(0.2)
    assert marginal.verdict(0.05) == "unfair"
