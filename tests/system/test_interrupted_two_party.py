"""`auditor audit two-party`, killed and run again: one audience, and one charge."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.kinds.two_party import metrics
from platform_sim import SimulatedPlatform
from tests.system.gates import Gate, gated
from tests.system.raw import usernames
from tests.system.test_audit import upload_job
from tests.system.test_interrupted import finished, interrupt, records, signed_up, start
from tests.two_parties import EDGES, KINDS, regulator_jwk
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("two-party"))
    with deployed(url, platform, two_party_candidates=8_192) as running:
        yield running


@pytest.fixture(scope="module")
def gate(service: Deployment) -> Iterator[Gate]:
    with gated(service) as made:
        yield made


@pytest.fixture(autouse=True)
def open_gate(gate: Gate) -> Iterator[None]:
    yield
    gate.lift()


class Scene:
    """One researcher, a file of people, and the words of the command."""

    def __init__(
        self, deployment: Deployment, gate: Gate, platform: Platform, folder: Path
    ) -> None:
        assert isinstance(platform.people, SimulatedPlatform)
        self.deployment, self.gate, self.folder = deployment, gate, folder
        names = usernames(platform.people.world, 24)
        table = pa.table({"username": names, "group": ["a", "b"] * 12})
        pyarrow.csv.write_csv(table, folder / "people.csv")
        (folder / "regulator.json").write_text(json.dumps(regulator_jwk(deployment)))

    def command(self, *more: str, opened_share: str = "0") -> tuple[Auditor, list[str]]:
        mandate: dict[str, Any] = {"kinds": KINDS, "epsilon": "1000"}
        auditor = signed_up(self.deployment, self.gate.url, opened_share=opened_share, **mandate)
        metric = self.folder / "metric.json"
        metric.write_text(metrics.histogram(upload_job(auditor), EDGES).model_dump_json())
        words = [
            "audit", "two-party", str(self.folder / "people.csv"), "--metric", str(metric),
            "--id", "username", "--groups", "group", "--epsilon", "10", "--profile", "lab",
            "--regulator-key", str(self.folder / "regulator.json"), "--json", *more,
        ]  # fmt: skip
        return auditor, words


@pytest.fixture
def scene(service: Deployment, gate: Gate, platform: Platform, tmp_path: Path) -> Scene:
    return Scene(service, gate, platform, tmp_path)


@pytest.mark.parametrize("more", [[], ["--hidden", "--rows", "30"]])
def test_killed_in_the_exchange_it_continues_with_the_same_people_and_charge(
    scene: Scene, gate: Gate, more: list[str]
) -> None:
    auditor, words = scene.command(*more)
    gate.stop("POST", "/v1/audits/[^/]+/exchange", let=1)
    interrupt(start(*words), gate, "exchange", signal.SIGKILL)
    shown, said = finished(start(*words))
    assert "Continuing" in said
    assert len(list(auditor.ledger.entries("charge"))) == 1
    assert len(auditor.audiences.list()) == 1
    assert json.loads(shown)["audit"] == auditor.audits.list()[0].id
    assert records() == []


def test_it_says_that_it_waits_for_the_regulator_and_that_its_key_is_needed(
    scene: Scene, gate: Gate
) -> None:
    auditor, words = scene.command(opened_share="1")
    process = start(*words)
    assert process.stderr is not None
    said = ""
    while "Waiting for regulator" not in said:
        line = process.stderr.readline()
        assert line, process.communicate()
        said += line
    [audit] = auditor.audits.list()
    regulator = scene.deployment.regulator
    assert f"Waiting for regulator {regulator.researcher_id} to open {audit.id}" in said
    assert f"auditor regulator open {audit.id}" in said
    assert "Keep this process running" in said
    assert regulator.open_run(audit.id).honest
    shown, rest = finished(process)
    assert json.loads(shown)["audit"] == audit.id
    assert "Waiting for regulator" not in rest


def test_a_run_whose_key_is_lost_says_so_and_does_not_pretend_to_wait(
    scene: Scene, gate: Gate
) -> None:
    auditor, words = scene.command(opened_share="1")
    process = start(*words)
    assert process.stderr is not None
    while "Waiting for regulator" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "Charged: audit_" in said
    assert "the sums are lost" in said
    again = start(*words)
    _, said = again.communicate()
    assert again.returncode == 1
    assert "a run whose key is lost" in said
    assert len(list(auditor.ledger.entries("charge"))) == 1
    assert records() == []
