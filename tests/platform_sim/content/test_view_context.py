import numpy as np
import pytest

from platform_sim import SOFTWARE_JOB, SimulatedPlatform


def test_every_context_variable_changes_scores(fair: SimulatedPlatform) -> None:
    people = np.arange(1_000)
    noon: dict[str, str | float] = {"hour": 12, "device": "phone"}
    scores = fair.score(SOFTWARE_JOB, people, noon)
    night = fair.score(SOFTWARE_JOB, people, {**noon, "hour": 0.0})
    desk = fair.score(SOFTWARE_JOB, people, {**noon, "device": "computer"})
    # People look for jobs by day and on a computer, and the model has noticed.
    assert (night < scores).all()
    assert (desk > scores).all()


def test_context_is_frozen_for_the_whole_audience(fair: SimulatedPlatform) -> None:
    """Another moment moves everybody's log-odds by one and the same amount."""
    people = np.arange(1_000)
    odds = []
    for hour in fair.context["hour"]:
        scores = fair.score(SOFTWARE_JOB, people, {"hour": hour, "device": "phone"})
        odds.append(np.log(scores / (1 - scores)))
    for later in odds[1:]:
        assert np.ptp(later - odds[0]) < 1e-9


@pytest.mark.parametrize(
    "context",
    [
        {"hour": 12.0},
        {"hour": 12.5, "device": "phone"},
        {"hour": 12.0, "device": "fridge"},
        {"hour": 12.0, "device": "phone", "mood": "good"},
    ],
)
def test_other_contexts_are_refused(
    fair: SimulatedPlatform, context: dict[str, str | float]
) -> None:
    with pytest.raises(ValueError, match=r"\bhour\b|\bdevice\b"):
        fair.score(SOFTWARE_JOB, np.arange(2), context)
