from fractions import Fraction
from pathlib import Path

import pytest

from auditor_client import InputError
from auditor_client.errors import ContractError
from auditor_client.fairness.gap import fairness_gap
from auditor_client.reporting.price_sentences import both_relations
from auditor_client.stats.noise_distributions import Gaussian
from openapi.resources import Levels
from tests.auditor_client.examples import finished, price
from tests.refusals import refuses

COUNTS = {"g0": [40, 60, 0], "g1": [45, 54, 1]}
NAMED = {"man": [40, 60, 0], "woman": [45, 54, 1]}


def test_known_sizes_are_passed_on_as_exact() -> None:
    audit = finished(COUNTS, kind="known", sizes={"g0": 100, "g1": 100}, paid=price(1.0, None))
    sizes = {"man": 100, "woman": 100}
    assert audit.fairness_gap() == fairness_gap(NAMED, sizes=sizes, epsilon=1, outside=True)


def test_noisy_sizes_are_passed_on_with_their_epsilon() -> None:
    audit = finished(COUNTS, kind="noisy", sizes={"g0": 98, "g1": 103}, paid=price(2.0, 4.0))
    expected = fairness_gap(
        NAMED,
        epsilon=0.5,
        delta=0.1,
        noisy_sizes={"man": 98, "woman": 103},
        size_epsilon=0.25,
        outside=True,
    )
    assert audit.fairness_gap(delta=0.1) == expected


def test_without_sizes_the_bins_must_do() -> None:
    audit = finished(COUNTS, kind="bins", paid=price(1.0, None))
    assert audit.fairness_gap() == fairness_gap(NAMED, epsilon=1, outside=True)


def test_the_scale_says_how_much_noise_there_is() -> None:
    # Three groups per person at epsilon 1: the scale is 3, and the analysis must use 1/3.
    assert finished(COUNTS, paid=price(3.0, None)).epsilon("bins") == Fraction(1, 3)


def test_unstated_noise_is_never_taken_for_none() -> None:
    audit = finished(COUNTS, kind="noisy", paid=price(1.0, None))
    with refuses(ContractError, "no-noise-of-the-sizes"):
        audit.fairness_gap()


def test_one_group_has_no_gap() -> None:
    with refuses(InputError, "no-gap"):
        finished({"g0": [1, 2, 0]}).fairness_gap()


def test_the_frame_has_a_row_per_group_and_bin() -> None:
    frame = finished(COUNTS).frame()
    assert frame.column_names == ["group", "low", "high", "count"]
    assert frame.to_pylist()[1:4] == [
        {"group": "man", "low": 0.5, "high": 1.0, "count": 60},
        {"group": "man", "low": None, "high": None, "count": 0},
        {"group": "woman", "low": 0.0, "high": 0.5, "count": 45},
    ]


def test_levels_are_named_by_their_value() -> None:
    audit = finished(COUNTS, bins=Levels(levels=[1, 2.5]))
    assert audit.bin_names() == ["1", "2.5", "outside"]


def test_gaussian_noise_is_passed_on_with_its_variance() -> None:
    audit = finished(
        COUNTS, kind="noisy", sizes={"g0": 98, "g1": 103}, paid=price(2.0, 8.0, "discrete-gaussian")
    )
    expected = fairness_gap(
        NAMED,
        noise=Gaussian(4.0),
        noisy_sizes={"man": 98, "woman": 103},
        size_noise=Gaussian(64.0),
        outside=True,
    )
    assert audit.fairness_gap() == expected
    assert audit.noise("sizes") == Gaussian(64.0)


def test_gaussian_noise_has_a_report(tmp_path: Path) -> None:
    audit = finished(COUNTS, paid=price(2.0, 8.0, "discrete-gaussian"))
    assert "discrete gaussian" in audit.report(tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("kind", "sizes", "total"),
    [("known", {"g0": 90, "g1": 90}, 90), ("noisy", {"g0": 80, "g1": 80}, 80), ("bins", None, 98)],
)
def test_the_consistent_frame_adds_up_to_what_is_known(
    kind: str, sizes: dict[str, int] | None, total: int
) -> None:
    counts = {"g0": [40, 60, -2], "g1": [45, 54, -1]}
    audit = finished(counts, kind=kind, sizes=sizes)
    rows = audit.frame(consistent=True).to_pylist()
    assert [row["count"] for row in audit.frame().to_pylist()] == [40, 60, -2, 45, 54, -1]
    assert min(row["count"] for row in rows) == 0
    assert sum(row["count"] for row in rows if row["group"] == "man") == pytest.approx(total)


def test_a_price_in_rho_is_put_in_words() -> None:
    assert "ε = 1.25" in both_relations(price())
    assert "ρ = 0.5" in both_relations(price(1.0, None, "discrete-gaussian"))
