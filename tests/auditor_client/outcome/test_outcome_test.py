"""Verdicts, multiplicity and words."""

import numpy as np
import pytest

from auditor_client import InputError, outcome
from tests.auditor_client.outcome.logs import COLUMNS, log, run_test
from tests.refusals import refuses


def test_bias_is_found_in_the_right_direction() -> None:
    found = run_test(log(20_000, seed=1, effect=0.12), bins=10)
    assert found.verdict() == "unfair"
    assert found.verdict(0.5) == "fair"
    assert found.verdict(0.12) == "inconclusive"
    words = found.words(0.02)
    assert words[0].startswith("Unfair")
    assert words[1].startswith("Scores under-predict b relative to a")
    against = run_test(log(20_000, seed=1, effect=-0.12), bins=10)
    assert "under-predict a relative to b" in against.words(0.02)[1]


def test_no_bias_is_fair_within_a_tolerance_and_never_at_none() -> None:
    found = run_test(log(20_000, seed=2), bins=4)
    assert found.verdict(0.08) == "fair"
    assert found.verdict(0.0) == "inconclusive"
    assert found.words(0.08)[0].startswith("Fair within 0.08")
    with refuses(InputError, "negative-tolerance", 0):
        found.verdict(-1)


def test_reference_and_pairs() -> None:
    found = run_test(log(6_000, seed=3, groups=3), bins=2, reference="b")
    assert [(e.group, e.relative_to) for e in found.effects[:3]] == [
        ("a", "b"),
        ("c", "b"),
        ("c", "a"),
    ]
    assert {each.group for each in found.coefficients()} == {"a", "c"}
    a, c, between = found.effects[:3]
    assert between.estimate == pytest.approx(c.estimate - a.estimate)
    with refuses(InputError, "no-such-group", "'z'"):
        run_test(log(500, seed=3), reference="z")


def test_holm_and_limits_for_all_at_once() -> None:
    found = run_test(log(4_000, seed=4), bins=6)
    chances = np.array([each.p_value for each in found.effects])
    order = np.argsort(chances)
    wanted = np.minimum(np.maximum.accumulate(chances[order] * np.arange(6, 0, -1)), 1)
    assert np.array([each.adjusted for each in found.effects])[order] == pytest.approx(wanted)
    assert all(e.low_all < e.low < e.high < e.high_all for e in found.effects)


def test_a_threshold_tests_the_bin_right_above_it_alone() -> None:
    edges = [0.0, 0.4, 0.55, 1.0]
    found = run_test(log(4_000, seed=5), bins=edges, threshold=0.4)
    assert found.tested == (1,)
    assert [each.bin for each in found.family()] == [1]
    (only,) = found.family()
    assert (only.low_all, only.adjusted) == pytest.approx((only.low, only.p_value))
    assert found.wald is not None
    assert found.wald.freedom == 1
    assert "just above the threshold" in found.words(0.1)[0]
    with refuses(InputError, "no-bin-at-the-threshold", 0.5):
        run_test(log(500, seed=5), bins=edges, threshold=0.5)


def test_controlling_for_the_score_removes_what_wide_bins_leave() -> None:
    # Scores of b are higher within a bin, and outcomes follow scores: no bias.
    table = log(200_000, seed=6)
    without = run_test(table, bins=[0, 1], control="none")
    controlled = run_test(table, bins=[0, 1], control="slopes")
    assert abs(controlled.effects[0].estimate) < 0.01
    assert without.effects[0].estimate > 0.03


def test_frames_have_a_row_each() -> None:
    found = run_test(log(2_000, seed=7, groups=3), bins=4)
    assert len(found.table()) == 12
    assert {"low_score", "estimate", "adjusted", "why"} <= set(found.table().column_names)
    assert len(found.marginal_table()) == 12


def test_charts_are_drawn_and_described() -> None:
    found = run_test(log(2_000, seed=8, groups=3), bins=4)
    for chart in (outcome.marginal_chart(found), outcome.effect_chart(found)):
        assert "in each bin of scores" in chart.to_dict()["description"]


def test_delta_and_groups_are_checked() -> None:
    exact = outcome.from_frame(log(200, seed=9), **COLUMNS, bins=1)
    with pytest.raises(InputError, match="delta"):
        outcome.test(exact, delta=1.5)
    alone = outcome.OutcomeMoments(("a",), (0.0, 1.0), (0.0, 1.0), np.ones((1, 1, 6)))
    with refuses(InputError, "few-groups"):
        outcome.test(alone)
