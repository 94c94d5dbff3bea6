"""Processes and threads that race for the last of every limit, on both databases.

`tests/durability` races for a mandate without renewal; here are the limits that renew, the lifetime
limit, the platform's, and the people's.
"""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from api.app.container import build_container
from api.audiences import uploads
from api.audiences.erasure import erase
from api.audits import cancellation
from api.db import Store
from api.identity.caller import load_caller
from api.kernel.errors import AudienceNotSealedError, ConflictError
from api.kernel.settings import Settings
from api.ledger import lock
from openapi.resources import REQUEST
from tests.faults.racer import Attempts, race
from tests.faults.scene import Scene, prepare
from tests.faults.snapshot import Snapshot
from tests.faults.tiny_platform import make

pytestmark = pytest.mark.long

PROCESSES, THREADS = 3, 4
MONTHLY = {"days": 30}
# What one audit of the scene costs: the first 1 of epsilon (½ of rho), the second 0.4 of rho.
LIMITS: dict[str, tuple[dict[str, Any], dict[str, Any], str, int, str]] = {
    "for ever": ({"epsilon_limit": "5"}, {}, "first", 5, "budget-exhausted"),
    "fixed": (
        {
            "epsilon_limit": "5",
            "renewal": {"kind": "fixed", **MONTHLY},
            "lifetime_limit": "100",
        },
        {},
        "first",
        5,
        "budget-exhausted",
    ),
    "rolling": (
        {
            "epsilon_limit": "5.5",
            "renewal": {"kind": "rolling", **MONTHLY},
            "lifetime_limit": "100",
        },
        {},
        "first",
        5,
        "budget-exhausted",
    ),
    "lifetime": (
        {
            "rho_limit": "3",
            "renewal": {"kind": "rolling", **MONTHLY},
            "lifetime_limit": "2",
        },
        {},
        "second",
        5,
        "budget-exhausted",
    ),
    "platform": (
        {"epsilon_limit": "50"},
        {"platform_rho": "2.4"},
        "first",
        4,
        "platform-exhausted",
    ),
}


def run(scene: Scene, folder: Path, names: Callable[[int], str]) -> dict[str, str]:
    """The outcome of every attempt; `names` says which request the n-th attempt makes."""
    attempts = {f"attempt-{n}": scene.requests[names(n)] for n in range(PROCESSES * THREADS)}
    stated = {
        key: scene.maker.states("charge", REQUEST.validate_python(asked), key)
        for key, asked in attempts.items()
    }
    shares = [list(attempts)[number::PROCESSES] for number in range(PROCESSES)]
    return race(
        [
            Attempts(
                scene.settings,
                scene.researcher_id,
                {key: attempts[key] for key in share},
                {key: stated[key] for key in share},
                folder,
            )
            for share in shares
        ]
    )


@pytest.mark.parametrize("limit", LIMITS)
def test_as_many_succeed_as_the_limit_pays_for(
    limit: str, new_database: Callable[[], str], tmp_path: Path
) -> None:
    mandate, settings, request, pays_for, refusal = LIMITS[limit]
    scene = prepare(new_database(), [mandate], person_lifetime_rho="10", **settings)
    outcomes = run(scene, tmp_path, lambda _: request)
    store = Store(scene.database_url)
    snapshot = Snapshot.of(store)
    store.close()
    assert list(snapshot.violations(Fraction(10))) == []
    refused = PROCESSES * THREADS - pays_for
    assert set(snapshot.audits) == {code for code in outcomes.values() if code != refusal}
    assert len(snapshot.audits) == pays_for
    assert Counter(outcomes.values())[refusal] == refused == len(snapshot.facts("refusal"))


def test_concurrent_audits_debit_nobody_above_the_cap(
    new_database: Callable[[], str], tmp_path: Path
) -> None:
    """Nobody can bear two audits: each person is in exactly one of those that name them."""
    scene = prepare(new_database(), person_lifetime_rho="0.7")
    outcomes = run(scene, tmp_path, lambda n: ("first", "second")[n % 2])
    store = Store(scene.database_url)
    snapshot = Snapshot.of(store)
    store.close()
    assert list(snapshot.violations(Fraction("0.7"))) == []
    assert set(outcomes.values()) == set(snapshot.audits)
    assert len(snapshot.audits) == PROCESSES * THREADS
    bearing: Counter[int] = Counter()
    for charge in snapshot.charges.values():
        everybody = set[int]().union(*snapshot.people[charge.audience_id].values())
        bearing.update(everybody - snapshot.excluded(charge.audit_id, charge.audience_id))
    assert bearing == Counter(range(90))


def test_erasing_an_audience_and_charging_it_do_not_wait_for_each_other(
    new_database: Callable[[], str], tmp_path: Path
) -> None:
    """Each may come first; a deadlock would be neither, and is what raises here."""
    scene = prepare(new_database(), person_lifetime_rho="10")
    service = build_container(Settings(**scene.settings), make(str(tmp_path)))
    request = REQUEST.validate_python(scene.requests["first"])
    with service.store.read() as session:
        caller = load_caller(session, scene.researcher_id)
    assert caller
    begun = threading.Barrier(3)

    def charge(name: str) -> None:
        begun.wait()
        for number in range(20):
            asked = scene.maker.states("charge", request, f"{name}-{number}-of-many")
            try:
                audit = service.submissions.submit(caller, request, asked)
            except AudienceNotSealedError:
                return
            with service.store.write() as session:
                cancellation.cancel(session, caller, audit.id, service.settings)

    def erase_it() -> None:
        begun.wait()
        for _ in range(40):
            with suppress(ConflictError), service.store.write() as session:
                lock(session)
                erase(session, uploads.get_owned(session, caller, request.audience_id, lock="skip"))

    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(charge, "one"), threads.submit(charge, "two")]
        jobs.append(threads.submit(erase_it))
        for job in jobs:
            job.result()
    snapshot = Snapshot.of(service.store)
    service.store.close()
    assert list(snapshot._spent()) == list(snapshot._ledger()) == []
    assert snapshot.balances == {}
