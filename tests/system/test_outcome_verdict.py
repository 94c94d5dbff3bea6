"""From a simulated platform's own log to a verdict: everything real, over a socket."""

from collections.abc import Iterator

import pytest

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from platform_sim.jobs.opportunities import THRESHOLD
from tests.world import Deployment, deployed, sqlite_url


@pytest.fixture(scope="module")
def service(
    biased_platform: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    with deployed(sqlite_url(tmp_path_factory.mktemp("service")), biased_platform) as running:
        yield running


@pytest.fixture(scope="module")
def auditor(service: Deployment) -> Auditor:
    return service.auditor(kinds=["outcome-test", "log-cdf"], epsilon="100")


@pytest.mark.parametrize(
    ("log", "low", "role", "bias"),
    [
        ("instajob", THRESHOLD, "candidate", 0.08),
        ("pymk", 0.0, "candidate", 0.08),
        # The same rows as the viewers': nothing is taken off by who looks.
        ("pymk-viewers", 0.0, "viewer", 0.0),
    ],
)
def test_the_bias_of_a_simulated_log_is_measured_through_the_service(
    auditor: Auditor, log: str, low: float, role: str, bias: float
) -> None:
    audience = auditor.audiences.sample("gender", {"woman": 800, "man": 800})
    found = auditor.audits.outcome_test(audience, log, bins=[low, 0.6, 1.0], epsilon=8)
    tested = found.test(reference="man", threshold=low)
    first = tested.family()[0]
    assert (first.group, first.relative_to) == ("woman", "man")
    assert first.defined
    # The platform takes .08 off women's scores; a miss of 6.5 deviations is below 1e-10.
    assert abs(first.estimate - bias) < 6.5 * first.se + 0.03
    assert first.se < 0.1
    stated = f"A person is a {role}, and privacy is counted per {role}"
    assert any(stated in rule for rule in found.release.rules)
    said = tested.words(0.01)
    assert any(each.startswith("At most 1 row of each person counts") for each in said)
