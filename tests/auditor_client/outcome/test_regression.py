"""Coefficients and standard errors against statsmodels, and the bounds against what they bound."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from auditor_client import InputError, outcome
from auditor_client.outcome.effects import Effect
from auditor_client.outcome.regression import Control
from auditor_client.outcome.sandwich_variance import Variance
from tests.auditor_client.outcome.logs import COLUMNS, log, released, run_test
from tests.refusals import refuses

EDGES = [0.2, 0.45, 0.8]


def _in_bin(found: outcome.Tested, number: int) -> list[Effect]:
    return [each for each in found.coefficients() if each.bin == number]


def _statsmodels(data: pd.DataFrame, formula: str, number: int, **options: Any) -> Any:
    low, high = EDGES[number : number + 2]
    last = data.score <= high if number == len(EDGES) - 2 else data.score < high
    rows = data[(data.score >= low) & last]
    if "groups" in options:
        options = {"cov_type": "cluster", "cov_kwds": {"groups": rows.person}}
    return smf.ols(formula, rows).fit(**options)


@pytest.mark.parametrize(
    ("variance", "options"),
    [
        ("classical", {"cov_type": "nonrobust"}),
        ("hc0", {"cov_type": "HC0"}),
        ("hc1", {"cov_type": "HC1"}),
        ("cluster", {"groups": "person"}),
    ],
)
def test_specification_1_agrees_with_statsmodels(
    variance: Variance, options: dict[str, Any]
) -> None:
    table = log(3_000, seed=1, groups=3, persons=900)
    found = run_test(table, bins=EDGES, person="person", variance=variance)
    for number in range(2):
        ols = _statsmodels(table.to_pandas(), "outcome ~ C(group) + score", number, **options)
        for effect in _in_bin(found, number):
            name = f"C(group)[T.{effect.group}]"
            assert effect.estimate == pytest.approx(ols.params[name], rel=1e-9)
            assert effect.se == pytest.approx(ols.bse[name], rel=1e-9)


@pytest.mark.parametrize(
    ("control", "formula"),
    [
        ("none", "outcome ~ C(group)"),
        ("quadratic", "outcome ~ C(group) + score + I(score**2)"),
        ("slopes", "outcome ~ C(group) * I(score - {mean})"),
    ],
)
def test_other_controls_agree_with_statsmodels(control: Control, formula: str) -> None:
    table = log(3_000, seed=2, groups=3)
    found = run_test(table, bins=EDGES, control=control, variance="classical")
    data = table.to_pandas()
    for number in range(2):
        low, high = EDGES[number : number + 2]
        mean = data.score[(data.score >= low) & (data.score < high)].mean()
        ols = _statsmodels(data, formula.format(mean=mean), number)
        for effect in _in_bin(found, number):
            name = f"C(group)[T.{effect.group}]"
            assert effect.estimate == pytest.approx(ols.params[name], rel=1e-6)
            assert effect.se == pytest.approx(ols.bse[name], rel=1e-6)


def test_joint_statistic_agrees_with_one_regression_over_all_bins() -> None:
    table = log(4_000, seed=3, groups=3, persons=1_200)
    found = run_test(table, bins=EDGES, person="person", variance="cluster")
    data = table.to_pandas()
    data = data[(data.score >= EDGES[0]) & (data.score <= EDGES[-1])]
    data["bin"] = (data.score >= EDGES[1]).astype(int)
    formula = "outcome ~ 0 + C(bin) + C(bin):C(group) + C(bin):score"
    # Without the factors for few clusters, which differ between one regression and two.
    options = {"groups": data.person, "use_correction": False}
    ols = smf.ols(formula, data).fit(cov_type="cluster", cov_kwds=options)
    wanted = [name for name in ols.params.index if "group" in name]
    b, v = ols.params[wanted].to_numpy(), ols.cov_params().loc[wanted, wanted].to_numpy()
    assert found.wald is not None
    assert found.wald.freedom == 4
    assert found.wald.statistic == pytest.approx(b @ np.linalg.solve(v, b), rel=0.01)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("control", ["none", "linear", "slopes"])
def test_bound_from_six_sums_is_never_below_the_robust_error(seed: int, control: Control) -> None:
    table = log(700, seed=seed)
    exact = outcome.from_frame(table, **COLUMNS, bins=[0, 0.3, 0.6, 1])
    bound = outcome.test(released(exact), control=control)
    robust = outcome.test(exact, control=control, variance="hc0")
    for ours, theirs in zip(bound.effects, robust.effects, strict=True):
        assert ours.estimate == pytest.approx(theirs.estimate)
        assert theirs.se <= ours.se <= 1.75 * theirs.se


@pytest.mark.parametrize("seed", range(6))
def test_bound_for_several_rows_of_a_person_is_never_below_the_clustered_error(seed: int) -> None:
    table = log(1_500, seed=seed, persons=400)
    exact = outcome.from_frame(table, **COLUMNS, bins=[0, 0.5, 1], person="person")
    bound, clustered = outcome.test(released(exact)), outcome.test(exact, variance="cluster")
    for ours, theirs in zip(bound.effects, clustered.effects, strict=True):
        assert ours.se >= theirs.se
    assert bound.wald is not None
    assert clustered.wald is not None
    assert bound.wald.statistic <= clustered.wald.statistic


def test_sums_over_raw_scores_give_the_same() -> None:
    table = log(900, seed=4)
    data = table.to_pandas().assign(bin=lambda d: np.digitize(d.score, [0.5]))
    cells = {
        name: [
            [
                len(d),
                d.outcome.sum(),
                d.score.sum(),
                (d.score**2).sum(),
                (d.score * d.outcome).sum(),
                (d.outcome**2).sum(),
            ]
            for _, d in part.groupby("bin")
        ]
        for name, part in data.groupby("group")
    }
    raw = outcome.test(cells, edges=[0, 0.5, 1], variance="classical")
    own = run_test(table, bins=[0, 0.5, 1], variance="classical")
    for ours, theirs in zip(raw.effects, own.effects, strict=True):
        assert ours.estimate == pytest.approx(theirs.estimate, rel=1e-9)
        assert ours.se == pytest.approx(theirs.se, rel=1e-9)
    with refuses(InputError, "no-edges"):
        outcome.test(cells)


def test_what_six_sums_cannot_do_is_refused() -> None:
    plain = released(outcome.from_frame(log(500, seed=5), **COLUMNS, bins=2))
    with refuses(InputError, "no-quadratic-sums", "slopes"):
        outcome.test(plain, control="quadratic")
    with refuses(InputError, "rows-for-a-robust-variance", "your own"):
        outcome.test(plain, variance="hc1")
    with refuses(InputError, "persons-for-clusters", "your own"):
        outcome.test(plain, variance="cluster")
    with refuses(InputError, "unknown-control", "slopes", "'cubic'"):
        outcome.test(plain, control="cubic")  # type: ignore[arg-type]
