"""Metrics: calls to a platform's adapter are counted, timed, and told apart when they fail."""

import numpy as np
import pytest
from prometheus_client import REGISTRY

from api.kinds.building_blocks.scoring import score_isolating_failures
from api.platforms.fault_isolation import calls_with_failures
from api.telemetry.metrics import adapter_call


class Breaking:
    """Scores that raise for person 3."""

    model_digest, score_range = "digest", (0.0, 1.0)
    context: dict[str, list[str]] = {}

    def score(self, _content: object, persons: np.ndarray, _context: object) -> np.ndarray:
        if 3 in persons:
            raise ValueError("person 3")
        return np.full(len(persons), 0.5)


def value(name: str, call: str) -> float:
    return REGISTRY.get_sample_value(name, {"call": call}) or 0.0


def test_calls_failures_and_times_of_an_adapter_are_counted() -> None:
    names = ("adapter_calls_total", "adapter_call_failures_total", "adapter_call_seconds_count")
    before = [value(name, "score") for name in names]
    scores = score_isolating_failures(Breaking(), {}, np.arange(4), {})
    assert np.isnan(scores).tolist() == [False, False, False, True]
    calls, failures, timed = (
        value(name, "score") - old for name, old in zip(names, before, strict=True)
    )
    # All four, (2, 3) and 3 alone fail. The number of calls follows from the size of the batch.
    assert (calls, failures) == (calls_with_failures(4), 3)
    assert timed == calls


def test_an_error_of_an_adapter_is_passed_on() -> None:
    with pytest.raises(KeyError), adapter_call("score"):
        raise KeyError
