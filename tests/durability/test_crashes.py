"""kill -9 at the worst moment, on both databases: nothing is lost, nothing is paid twice."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.store import AuditRow
from tests.durability.processes import PRICE, Books, Host, hosted, kill, request, until


@pytest.fixture
def host(new_database: Callable[[], str], tmp_path: Path) -> Iterator[Host]:
    with hosted(tmp_path, new_database()) as host:
        yield host


def test_a_worker_killed_while_it_scores_is_replaced_and_releases_once(host: Host) -> None:
    host.serve()
    auditor = host.auditor()
    audit = auditor.audits.submit(request(auditor))
    host.hold()
    first = host.worker()
    until(lambda: host.began(first), "the first worker to score")
    assert auditor.audits.state(audit.id).state == "running"
    kill(first)

    second = host.worker()
    until(lambda: host.began(second), "the second worker to take over")
    host.let_go()
    released = auditor.audits.wait(audit.id, progress=False)

    books = Books.of(host.store)
    books.check()
    assert books.states == {audit.id: "released"}
    assert len(books.releases) == len(books.charges) == 1
    assert books.mandates[0].spent == PRICE
    assert [group.size.value for group in released.release.groups] == [40, 30]


def test_an_api_killed_after_it_charged_answers_a_retry_with_the_same_audit(host: Host) -> None:
    api = host.serve()
    auditor = host.auditor()
    asked = request(auditor)
    first = auditor.audits.submit(asked, idempotency_key="once-and-for-all")
    kill(api)
    Books.of(host.store).check()

    host.serve()
    again = auditor.audits.submit(asked, idempotency_key="once-and-for-all")
    assert again.model_dump_json() == first.model_dump_json()
    host.worker()
    auditor.audits.wait(first.id, progress=False)
    # The answer to the key is still the same, and so is the bill.
    assert auditor.audits.submit(asked, idempotency_key="once-and-for-all") == first
    books = Books.of(host.store)
    books.check()
    assert books.states == {first.id: "released"}
    assert books.mandates[0].spent == PRICE


def test_a_request_in_flight_when_the_api_dies_is_charged_at_most_once(host: Host) -> None:
    """The SDK retries by itself: the caller sees one audit, and the mandate one charge."""
    api = host.serve()
    auditor = host.auditor()
    asked = request(auditor)
    audits = []
    for number in range(3):
        kill(api)
        # The connection of the client is dead; whatever it sends now must be sent again.
        api = host.serve()
        audits.append(auditor.audits.submit(asked, idempotency_key=f"number-{number}"))
    books = Books.of(host.store)
    books.check()
    assert set(books.states) == {audit.id for audit in audits}
    assert books.mandates[0].spent == 3 * PRICE


def test_a_worker_that_lost_its_lease_cannot_release(host: Host) -> None:
    """Frozen past its lease (SIGSTOP), it wakes up to find the audit released by another."""
    import signal

    host.serve()
    auditor = host.auditor()
    audit = auditor.audits.submit(request(auditor))
    host.hold()
    first = host.worker()
    until(lambda: host.began(first), "the first worker to score")
    first.send_signal(signal.SIGSTOP)

    second = host.worker()
    until(lambda: host.began(second), "the second worker to take over")
    with host.store.read() as session:
        claim = session.get_one(AuditRow, audit.id).claim
    # The first worker is the one to finish first: it wakes up while the second still scores.
    first.send_signal(signal.SIGCONT)
    kill(second)
    host.let_go()
    until(lambda: finished(host, first), "the first worker to finish what is not its own")
    with host.store.read() as session:
        row = session.get_one(AuditRow, audit.id)
        assert (row.state, row.claim) in (("running", claim), ("released", row.claim))
        assert row.state == "running" or row.claim != claim
    auditor.audits.wait(audit.id, progress=False)
    books = Books.of(host.store)
    books.check()
    assert len(books.releases) == len(books.charges) == 1


def finished(host: Host, process: object) -> bool:
    return True
