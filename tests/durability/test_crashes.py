"""kill -9 at the worst moment, on both databases: nothing is lost, nothing is paid twice."""

import pytest

from api.audits.queue.worker import Worker
from auditor_client import Auditor
from openapi.resources import Audit, AuditRequest
from tests.durability.processes import PRICE, Host, StoredAudits, kill, request, until

pytestmark = pytest.mark.long

KEY = "once-and-for-all"


def test_a_worker_killed_while_it_scores_is_replaced_and_releases_once(served: Host) -> None:
    host = served
    host.hold()
    first = host.worker()
    auditor = host.auditor()
    audit = auditor.audits.submit(request(auditor))
    until(lambda: host.began(first), "the first worker to score")
    assert auditor.audits.state(audit.id).state == "running"
    kill(first)
    StoredAudits.of(host.store).check()

    second = host.worker()
    until(lambda: host.began(second), "the second worker to take over")
    host.let_go()
    released = auditor.audits.wait(audit.id, progress=False)
    assert [group.size.value for group in released.release.groups] == [40, 30]

    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {audit.id: "released"}
    assert len(stored.releases) == len(stored.charges) == 1
    assert stored.mandates[0].spent == PRICE


def test_an_api_killed_after_it_charged_answers_a_retry_with_the_same_audit(host: Host) -> None:
    api = host.serve()
    auditor = host.auditor()
    asked = request(auditor)
    first = auditor.audits.submit(asked, idempotency_key=KEY)
    kill(api)
    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {first.id: "charged"}

    with host.serving() as service:
        _retry(auditor, asked, first, service.worker())
    stored = StoredAudits.of(host.store)
    stored.check()
    assert stored.states == {first.id: "released"}
    assert stored.mandates[0].spent == PRICE


def _retry(auditor: Auditor, asked: AuditRequest, first: Audit, worker: Worker) -> None:
    again = auditor.audits.submit(asked, idempotency_key=KEY)
    assert again.model_dump_json() == first.model_dump_json()
    assert worker.run_one()
    auditor.audits.get(first.id)
    # Now that it is released, the key still gets the answer it got.
    assert auditor.audits.submit(asked, idempotency_key=KEY) == first
