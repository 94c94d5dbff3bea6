"""Runs that break off on the way, through the SDK: the same call continues, and pays once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor_client import Auditor, AuditorError, InputError
from auditor_client.local.private_files import home
from auditor_client.studies import read_study
from auditor_client.studies.runner import Run
from auditor_client.transport.retries import Retries
from tests.refusals import refuses
from tests.system.gates import Gate, gated
from tests.world import Deployment

LOGS: Any = ["outcome-test", "log-cdf"]


@pytest.fixture(scope="module")
def gate(sqlite_deployment: Deployment) -> Iterator[Gate]:
    with gated(sqlite_deployment) as made:
        yield made


@pytest.fixture(autouse=True)
def open_gate(gate: Gate) -> Iterator[None]:
    yield
    gate.lift()


def connected(deployment: Deployment, gate: Gate, **mandate: Any) -> Auditor:
    """A new researcher behind the gate, who tries everything once."""
    known = deployment.auditor(**mandate)
    made = Auditor(
        gate.url,
        known.researcher_id,
        known._key,
        retries=Retries(attempts=1),
        pending=home() / "pending",
    )
    return deployment.clients.enter_context(made)


def charges(auditor: Auditor) -> int:
    return len(list(auditor.ledger.entries("charge")))


def test_bins_that_were_bought_are_not_bought_again(
    sqlite_deployment: Deployment, gate: Gate
) -> None:
    # Both cost 2.5 together, and the mandate covers them once.
    auditor = connected(sqlite_deployment, gate, kinds=LOGS, epsilon="2.5")
    audience = auditor.audiences.sample("gender", {"woman": 200, "man": 200})

    def run() -> Any:
        return auditor.audits.outcome_test(audience, "instajob", quantiles=3, progress=False)

    gate.lose("POST", "/v1/audits", "after", let=1)
    with pytest.raises(AuditorError):
        run()
    assert charges(auditor) == 2
    gate.lift()
    found = run()
    assert charges(auditor) == 2
    assert found.id in [audit.id for audit in auditor.audits.list()]
    assert list((home() / "pending").iterdir()) == []
    # A completed run is complete: another one is another charge, which the mandate refuses.
    with refuses(InputError, "not-covered"):
        run()


def study_file(folder: Path, gate: Gate) -> Path:
    path = folder / "audit.yaml"
    audit = {"kind": "match-count", "audience": "declared", "epsilon": 1}
    study = {
        "version": 1,
        "title": "How many are found",
        "platform": gate.url,
        "audiences": {"declared": {"attribute": "gender", "sizes": {"woman": 50, "man": 60}}},
        "audits": {"found": audit},
    }
    path.write_text(yaml.safe_dump(study))
    return path


def test_a_study_whose_payment_was_not_answered_goes_on_though_it_could_not_pay_again(
    sqlite_deployment: Deployment, gate: Gate, tmp_path: Path
) -> None:
    auditor = connected(sqlite_deployment, gate, kinds=["match-count"], epsilon="2")
    file = study_file(tmp_path, gate)

    def run() -> Run:
        return Run(read_study(file), tmp_path, auditor, progress=False)

    first = run()
    first.upload()
    quote = first.price()
    assert quote is not None
    assert quote.covered
    gate.lose("POST", "/v1/audits", "after")
    with pytest.raises(AuditorError):
        list(first.pay())
    gate.lift()
    second = run()
    assert second.made.sending == ["found"]
    second.continue_sent()
    assert second.price() is None
    [(name, audit)] = second.pay()
    assert (name, audit.id) == ("found", second.made.audits["found"])
    assert charges(auditor) == 1
