"""Planning by how people come to an audit, with the noise that the service prices."""

from dataclasses import replace
from typing import Any

import pytest

from auditor_client.plan import sample_size, verdict_size
from auditor_client.planning.audiences import AudienceSource, planned_audit
from auditor_client.planning.default_bins import BinsQuestion, carried, laplace_variance
from auditor_client.planning.design import plan_audit
from auditor_client.planning.inverse import power_at, resolvable_alpha
from auditor_client.stats.noise import Gaussian
from privacy.tables.tree_shape import tail_variances


def test_a_sample_of_exact_size_has_twice_the_scale_of_noise() -> None:
    kind, noise = planned_audit("sample", "noisy", "discrete-laplace", 1.0, None)
    assert (kind, noise.bins) == ("known", 0.5)
    kind, noise = planned_audit("sample", "noisy", "discrete-gaussian", None, 0.25)
    assert (kind, noise.bins) == ("known", Gaussian(4.0))


def test_an_upload_buys_its_size_and_confirmed_people_need_not() -> None:
    kind, noise = planned_audit("upload", "known", "discrete-laplace", 1.0, None)
    assert (kind, noise.bins, noise.size) == ("noisy", 1.0, 0.25)
    assert planned_audit("upload", "known", "discrete-laplace", 1.0, None, 0)[0] == "estimated"
    kind, noise = planned_audit("confirmed", "noisy", "discrete-laplace", 1.0, None)
    assert (kind, noise.bins) == ("known", 1.0)


def test_the_proved_number_of_a_sample_is_that_of_half_the_epsilon() -> None:
    asked = sample_size(0.2, 0.05, 2, 20, 1.0, audience="sample")
    assert asked == sample_size(0.2, 0.05, 2, 20, 0.5, sizes="known")
    assert asked > sample_size(0.2, 0.05, 2, 20, 1.0, sizes="known")
    assert sample_size(0.2, 0.05, 2, 20, 1.0, audience="confirmed") == sample_size(
        0.2, 0.05, 2, 20, 1.0, sizes="known"
    )


def test_theorem_1_asks_for_noise_smaller_than_the_gap_in_a_sample_too() -> None:
    with pytest.raises(ValueError, match="Theorem 1 assumes"):
        sample_size(0.2, 0.05, 2, 20, 0.15, "theorem-1", audience="sample")


def test_verdicts_of_samples_need_more_people_than_those_of_confirmed_ones() -> None:
    sizes = {
        source: verdict_size(0.3, bins=10, audience=source)
        for source in ("confirmed", "sample", "upload")
    }
    # A private size costs less than noise of twice the scale.
    assert sizes["confirmed"] <= sizes["upload"] <= sizes["sample"]
    assert sizes["confirmed"] < sizes["sample"]
    assert verdict_size(0.3, bins=10, criterion="bins") <= sizes["confirmed"] * 1.05


def test_four_fifths_needs_more_people_than_a_wide_gap() -> None:
    people = verdict_size(0.2, bins=10, audience="confirmed", criterion="four-fifths")
    assert people > verdict_size(0.2, bins=10, audience="confirmed")


def test_an_unknown_audience_is_refused() -> None:
    with pytest.raises(ValueError, match="audience"):
        sample_size(0.2, 0.05, 2, 20, 1.0, audience="volunteers")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_private_sizes_cost_at_most_a_seventh_more_people(epsilon: float) -> None:
    """The goal is 1.15 of known sizes from epsilon 1 on; only the variance of a size counts."""
    private = verdict_size(0.2, bins=16, epsilon=epsilon, audience="upload")
    assert private <= 1.15 * verdict_size(0.2, bins=16, epsilon=epsilon, audience="confirmed")


def test_answers_for_another_variable_know_the_audience() -> None:
    asked: dict[str, Any] = {"bins": 10, "epsilon": 0.5}
    power = {
        source: power_at(150, 0.0, audience=source, **asked).fair
        for source in ("confirmed", "sample")
    }
    assert power["sample"] < power["confirmed"]
    by_ratio = power_at(1500, 0.0, criterion="four-fifths", **asked)
    assert power_at(1500, 0.36, criterion="four-fifths", **asked).fair < 0.05 < by_ratio.fair
    with pytest.raises(ValueError, match="four-fifths"):
        resolvable_alpha(150, criterion="four-fifths")


def test_a_design_splits_the_price_between_bins_and_sizes() -> None:
    found = plan_audit(600, 1.25)
    assert found.epsilon + found.size_epsilon <= 1.25
    assert found.people <= verdict_size(0.2, bins=len(found.edges), epsilon=1, audience="upload")
    assert (found.edges[0], found.edges[-1], found.kind) == (0.0, 1.0, "score-histogram")
    known = plan_audit(600, 1.25, audience="confirmed")
    assert (known.epsilon, known.size_epsilon) == (1.25, 0)


@pytest.mark.parametrize("leaves", [2, 20, 100, 500, 1_001])
def test_a_tree_is_never_better_above_an_edge(leaves: int) -> None:
    """1,000 bins is the most that a request may have."""
    tree, bins = tail_variances(leaves)
    assert tree > bins


@pytest.mark.parametrize("source", ["upload", "sample", "confirmed"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_default_bins_follow_the_planner(source: AudienceSource, epsilon: float) -> None:
    """The closed form by which edges are chosen is near the people that `verdict_size` asks for."""
    scale = (2 if source == "sample" else 1) / epsilon
    size = laplace_variance(4 / epsilon) if source == "upload" else 0.0
    needed = verdict_size(0.2, bins=16, epsilon=epsilon, audience=source)
    enough = BinsQuestion(1.2 * needed, laplace_variance(scale), size)
    assert carried(enough, 15)
    assert not carried(replace(enough, people=0.8 * needed), 15)
