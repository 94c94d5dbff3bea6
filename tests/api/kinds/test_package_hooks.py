"""Kinds of packages: which run outside the workers, and which look at the mandate that pays."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from sqlmodel import func, select

from api.audits.queue import fair_queue, leases
from api.db import AuditRow, ChargeRow, EntryRow, MandateRow
from api.health import queue_status
from api.kernel.errors import UnsupportedAuditError
from api.kinds.registry import KINDS, kinds_outside_workers, runs_in_worker
from api.platforms.interfaces import Platform
from bench.hosted import Hosted, hosted_on
from openapi.kinds.packages import installed
from openapi.kinds.registry import CONTRACTS
from tests.world import sqlite_url

EXAMPLE = Path(__file__).parents[3] / "docs/examples/share-above"
KIND = "patient-share"
MODULE = '''
"""The example's kind under another name: no worker runs it, and its mandate needs a key."""

from dataclasses import replace
from typing import Literal

from share_above import contract, platform_half


class PatientShareRequest(contract.ShareAboveRequest):
    kind: Literal["patient-share"]


def before_charge(request, mandate):
    SEEN.append((request.threshold, mandate.load_regulator_key()["crv"]))
    for refusal in REFUSALS:
        raise refusal


SEEN, REFUSALS = [], []
CONTRACT = replace(contract.KIND, name="patient-share", request=PatientShareRequest)
KIND = replace(
    platform_half.KIND, contract=CONTRACT, runs_in_worker=False, before_charge=before_charge
)
'''
ENTRY_POINTS = """
    [platform_auditor.contracts]
    patient-share = patient_share:CONTRACT

    [platform_auditor.platform_kinds]
    patient-share = patient_share:KIND
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module of a package that is installed for this process."""
    metadata = tmp_path / "patient_share-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: patient-share\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(dedent(ENTRY_POINTS))
    (tmp_path / "patient_share.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(tmp_path))
    installed.cache_clear()
    import patient_share  # type: ignore[import-not-found]  # the fixture wrote it

    yield patient_share
    patient_share.SEEN.clear()
    patient_share.REFUSALS.clear()
    monkeypatch.undo()
    installed.cache_clear()


@pytest.fixture
def host(tmp_path: Path, platform: Platform, package: Any) -> Iterator[Hosted]:
    with hosted_on(sqlite_url(tmp_path), platform) as host:
        with host.service.store.write() as session:
            [mandate] = session.exec(select(MandateRow)).all()
            mandate.kinds = [*mandate.kinds, KIND]
            session.add(mandate)
        yield host


def submit(host: Hosted) -> tuple[str, str]:
    """Charge an audit of the package's kind, and one of a built-in kind; return their ids."""
    request, _ = host.sealed(np.arange(200))
    fields = {"content_id": request.content_id, "audience_id": request.audience_id}
    foreign: Any = CONTRACTS[KIND].request.model_validate(
        {"kind": KIND, "epsilon": "0.1", **fields}
    )
    audits = [
        host.service.submissions.submit(host.auditor, asked, host.maker.states("charge", asked))
        for asked in (foreign, request)
    ]
    return audits[0].id, audits[1].id


def test_no_worker_takes_an_audit_that_runs_elsewhere(host: Hosted) -> None:
    theirs, ours = submit(host)
    store, settings = host.service.store, host.service.settings
    taken = [leases.claim_next(store, settings), leases.claim_next(store, settings)]
    assert [audit.id if audit else None for audit in taken] == [ours, None]
    with store.read() as session:
        assert session.get_one(AuditRow, theirs).state == "charged"
        # Nor does it fill its auditor's queue.
        assert fair_queue.QueueSnapshot.load(session, settings).waiting == {host.auditor.auditor: 0}
        by_status = queue_status.read_queue_status(session).by_status
    assert by_status["exchanging"] == 1
    assert by_status["running"] == 1


def test_a_lapsed_lease_does_not_bring_it_to_a_worker(host: Hosted) -> None:
    theirs, _ = submit(host)
    store, settings = host.service.store, host.service.settings
    leases.claim_next(store, settings)
    with store.write() as session:
        row = session.get_one(AuditRow, theirs)
        row.state, row.lease_until = "running", row.submitted_at
        session.add(row)
    assert leases.claim_next(store, settings) is None


def test_a_kind_sees_the_request_and_the_mandate_before_the_charge(
    host: Hosted, package: Any
) -> None:
    submit(host)
    assert package.SEEN == [(0.5, "Ed25519")]


def test_a_refusal_before_the_charge_charges_nothing(host: Hosted, package: Any) -> None:
    package.REFUSALS.append(UnsupportedAuditError("Not by this mandate. Nothing was charged."))
    with pytest.raises(UnsupportedAuditError):
        submit(host)
    with host.service.store.read() as session:
        assert session.exec(select(func.count()).select_from(ChargeRow)).one() == 0
        kinds = session.exec(select(EntryRow.kind)).all()
    assert kinds.count("refusal") == 1
    assert "charge" not in kinds


def test_built_in_kinds_run_in_workers_but_for_two_party() -> None:
    assert kinds_outside_workers() == ("two-party",)
    assert runs_in_worker("score-histogram")


def test_audits_of_a_kind_that_is_no_longer_enabled_come_to_a_worker() -> None:
    """It ends them: nobody else would."""
    assert KIND not in KINDS
    assert runs_in_worker(KIND)
