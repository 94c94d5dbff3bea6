from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from auditor_client import InputError
from auditor_client.errors import ContractError
from auditor_client.fairness.gap import fairness_gap
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.price_sentences import both_relations
from auditor_client.stats.noise_distributions import Gaussian
from openapi.resources import Edges, Levels, ScoreHistogramRequest
from tests.auditor_client.examples import AUDIENCE_ID, CONTENT_ID, finished, price
from tests.refusals import refuses

HALVES = Edges(edges=[0, 0.5, 1])
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
    frame = finished(COUNTS).table()
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
    rows = audit.table(consistent=True).to_pylist()
    assert [row["count"] for row in audit.table().to_pylist()] == [40, 60, -2, 45, 54, -1]
    assert min(row["count"] for row in rows) == 0
    assert sum(row["count"] for row in rows if row["group"] == "man") == pytest.approx(total)


def test_a_price_in_rho_is_put_in_words() -> None:
    assert "ε = 1.25" in both_relations(price())
    assert "ρ = 0.5" in both_relations(price(1.0, None, "discrete-gaussian"))


SMOOTH = {"g0": [300] * 5 + [0], "g1": [450, 350, 300, 230, 170, 0]}


def test_the_first_sentence_says_that_a_ratio_below_four_fifths_is_certain() -> None:
    """Every gap is within 0.2, and yet 170 of one group are served for 300 of the other."""
    answer = finished(SMOOTH).summary()
    assert answer.verdict == "fair"
    assert "an impact ratio below 0.8 is certain" in answer.sentence
    assert answer.numbers["impact_ratio"]["four_fifths"] == "fails"
    assert answer.numbers["impact_ratio"]["scores_from"] == 0.8
    assert answer.numbers["threshold"]["estimate"] == pytest.approx(200 / 1500)


def test_the_first_sentence_says_what_a_planned_audit_missed() -> None:
    """3,000 people per group can exclude a ratio below 4/5, and here they do not."""
    answer = finished({"g0": [600] * 5 + [0], "g1": [640, 630, 620, 610, 500, 0]}).summary()
    assert "this audit could have excluded an impact ratio below 0.8 and did not" in answer.sentence


def test_few_people_are_not_blamed_for_an_open_ratio() -> None:
    answer = finished({"g0": [20] * 5 + [0], "g1": [22, 21, 20, 19, 18, 0]}).summary()
    assert "impact ratio" not in answer.sentence
    assert any("impact ratio" in each for each in answer.details)


def test_the_analysis_refuses_another_least_share_than_the_request_fixed() -> None:
    made = finished(SMOOTH)
    assert made.worst_impact().least_share == 0.2
    made = replace(made, release=made.release.model_copy(update={"least_share": Decimal("0.1")}))
    assert made.worst_impact().least_share == made.worst_impact(least_share=0.1).least_share == 0.1
    assert made.fairness_gap(criterion="four-fifths").verdict(0.2) == "unfair"
    with refuses(InputError, "another-least-share"):
        made.worst_impact(least_share=0.2)


def test_the_least_share_is_in_a_request_only_where_it_is_said() -> None:
    asked = ScoreHistogramRequest(
        content_id=CONTENT_ID, audience_id=AUDIENCE_ID, bins=HALVES, epsilon=Decimal(1)
    )
    assert "least_share" not in asked.model_dump(mode="json")
    other = asked.model_copy(update={"least_share": Decimal("0.1")})
    assert other.model_dump(mode="json")["least_share"] == "0.1"
    made = finished({"g0": [5, 5, 0], "g1": [5, 5, 0]}, bins=HALVES)
    assert list(ScoreHistogramResult.mismatches(other, made.release)) == ["least_share"]


def test_clusters_widen_every_limit(tmp_path: Path) -> None:
    """As if a fifth as many people had come, and the same from a receipt file."""
    plain, known = finished(SMOOTH), {"design_effect": 5.0, "number": 600.0, "largest": 5.0}
    made = replace(plain, clusters={**known, "correlation": 1.0})
    widths = [each.fairness_gap().high - plain.fairness_gap().efg for each in (plain, made)]
    assert widths[1] == pytest.approx(5**0.5 * widths[0], rel=0.1)
    assert plain.worst_impact().four_fifths() == "fails"
    assert made.worst_impact().four_fifths() == "inconclusive"
    assert any("clusters" in each for each in made.summary().assumptions)
    assert [one.people for one in made.results().audits[0].people] == [1500, 1500]
    read = ScoreHistogramResult.from_receipt(made.save_receipt(tmp_path / "r.json"))
    assert read.fairness_gap() == made.fairness_gap()
    declared = replace(plain, clusters={**known, "correlation": 0.1})
    assert any("was declared" in each for each in declared.summary().assumptions)
