"""Two platforms with known verdicts: one fair, one that disadvantages women in job ads."""

from typing import Any

from platform_sim.learned_model.bias import Bias
from platform_sim.platform import SimulatedPlatform

SOFTWARE_JOB: dict[str, Any] = {
    "kind": "job",
    "title": "Software engineer",
    "text": "Build and run data pipelines.",
    "attributes": {"occupation": "software"},
    "image": None,
}
_AGAINST_WOMEN = Bias("gender", {"woman": -0.5}, "additive", content_kind="job")


def fair_platform(people: int = 20_000, seed: int = 1) -> SimulatedPlatform:
    """Return a platform whose model treats qualified people equally: the true gap is due to
    chance.
    """
    return SimulatedPlatform.from_seed(seed, people, correlation=0.0)


def biased_platform(people: int = 20_000, seed: int = 1) -> SimulatedPlatform:
    """Return the same people and model, with half of the range subtracted from women's scores for
    jobs.
    """
    return SimulatedPlatform.from_seed(seed, people, correlation=0.0, bias=_AGAINST_WOMEN)
