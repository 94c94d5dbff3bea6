"""Planning by how people come to an audit, with the noise that the service prices."""

import pytest

from auditor_client.plan import sample_size, verdict_size
from auditor_client.planning.audiences import planned_audit
from auditor_client.stats.noise import Gaussian


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
    assert sizes["confirmed"] < sizes["sample"] <= sizes["upload"]
    assert verdict_size(0.3, bins=10, criterion="bins") <= sizes["confirmed"] * 1.05


def test_four_fifths_needs_more_people_than_a_wide_gap() -> None:
    people = verdict_size(0.2, bins=10, audience="confirmed", criterion="four-fifths")
    assert people > verdict_size(0.2, bins=10, audience="confirmed")


def test_an_unknown_audience_is_refused() -> None:
    with pytest.raises(ValueError, match="audience"):
        sample_size(0.2, 0.05, 2, 20, 1.0, audience="volunteers")  # type: ignore[arg-type]
