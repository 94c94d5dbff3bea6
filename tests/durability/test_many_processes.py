"""Several API and worker processes on one PostgreSQL, one of each killed under load.

Nothing is shared but the database: requests of one client go to whichever process takes them.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing.context import ForkServerProcess as Forked
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from sqlmodel import col, func, select

from api.db import AuditRow
from api.identity.signing_keys import SigningKeys
from api.kernel.hard_limits import PERSON_LIFETIME_RHO
from api.kernel.settings import ledger_origin, load_settings
from api.ledger.checkpoints import Checkpointer
from api.ledger.key_rotation import KeyEntries
from auditor_client import Regulator
from auditor_client.ledger import make_trust, verify_file
from tests.conftest import new_postgresql
from tests.durability import forked
from tests.durability.balancer import balanced
from tests.durability.processes import PRICE, Host, StoredAudits, hosted, request, until
from tests.faults.snapshot import Snapshot
from tests.world import free_port

pytestmark = pytest.mark.long

AUDITORS, EACH = 3, 6


@pytest.fixture
def host(postgresql: str, tmp_path: Path) -> Iterator[Host]:
    with hosted(tmp_path, new_postgresql(postgresql), seconds=0.03) as host:
        yield host


def start(host: Host, ports: list[int]) -> tuple[list[Forked], list[Forked]]:
    """The API processes, ready to answer, and the workers."""
    apis = [forked.start(host.folder, "serve", host="127.0.0.1", port=port) for port in ports]
    workers = [forked.start(host.folder, "worker") for _ in ports]
    for process in (*apis, *workers):
        host.stack.callback(forked.kill, process)
    for api, port in zip(apis, ports, strict=True):
        until(partial(answers, host, api, port), "an API to answer")
    return apis, workers


def answers(host: Host, api: Forked, port: int) -> bool:
    assert api.is_alive(), (host.folder / "log").read_text()
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz"):
            return True
    except (URLError, ConnectionError):
        return False


def test_one_of_each_killed_under_load_breaks_no_promise(host: Host, tmp_path: Path) -> None:
    ports = [free_port(), free_port()]
    with balanced(host.port, ports):
        apis, workers = start(host, ports)
        auditors = [host.auditor() for _ in range(AUDITORS)]
        asked = [request(auditor) for auditor in auditors]

        def audit(number: int) -> tuple[str, bytes]:
            auditor, about = auditors[number % AUDITORS], asked[number % AUDITORS]
            paid = auditor.audits.submit(about, idempotency_key=f"the-key-of-{number}")
            done = auditor.audits.wait(paid.id, progress=False)
            return paid.id, done.release.model_dump_json().encode()

        numbers = range(AUDITORS * EACH)
        with ThreadPoolExecutor(2 * AUDITORS) as clients:
            under_way = [clients.submit(audit, number) for number in numbers]
            until(lambda: host.began() >= 6, "the load to be on")
            host.hold()
            until((host.folder / f"held-{workers[0].pid}").exists, "the worker to be at an audit")
            forked.kill(workers[0])
            forked.kill(apis[0])
            host.let_go()
            first = [each.result() for each in under_way]
        assert all(process.is_alive() for process in (apis[1], workers[1]))
        # Asked again, every key gets the audit and the bytes that it got.
        assert [audit(number) for number in numbers] == first

        assert taken_over(host)
        stored = StoredAudits.of(host.store)
        stored.check()
        assert sorted(stored.states) == sorted(audit_id for audit_id, _ in first)
        assert set(stored.states.values()) == {"released"}
        assert len(stored.charges) == len(stored.releases) == len(set(stored.states))
        assert [mandate.spent for mandate in stored.mandates] == [EACH * PRICE] * AUDITORS
        assert list(Snapshot.of(host.store).violations(Fraction(PERSON_LIFETIME_RHO))) == []
        verified(host, tmp_path)


def taken_over(host: Host) -> int:
    """Count the audits that one worker began and another finished."""
    with host.store.read() as session:
        query = select(func.count()).select_from(AuditRow).where(col(AuditRow.claims) > 1)
        return session.exec(query).one()


def verified(host: Host, folder: Path) -> None:
    """The ledger that is served verifies, entry by entry and against its signed head."""
    settings = load_settings(host.folder / "settings.toml")
    keys = SigningKeys(host.store, settings, KeyEntries())
    Checkpointer(host.store, keys, ledger_origin(settings), 1).once()
    with Regulator(host.url, host.regulator_id, host.regulator_key) as regulator:
        jwk = host.regulator_key.as_dict(private=False)
        trust = make_trust(regulator.ledger.keys(), {host.regulator_id: jwk})
        found = verify_file(regulator.ledger.export(folder / "ledger.jsonl"), trust)
    assert found.counts["charge"] == found.counts["release"] == AUDITORS * EACH
