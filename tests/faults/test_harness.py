"""The fault harness must be able to fail: every mutant of the service is found out."""

import re
from pathlib import Path

import pytest
from sqlmodel import select

from api.db import EntryRow, Store
from api.kernel.failpoints import Failpoint
from tests.faults.case import Case, scenario_of
from tests.faults.host import Kill
from tests.faults.mutants import MUTANTS
from tests.faults.scene import Databases, on_sqlite

pytestmark = pytest.mark.long

# Where to kill each mutant, and what must be noticed.
FOUND = {
    "charge_in_two_transactions": (Failpoint.CHARGE_WRITTEN, "its charges are"),
    "entry_in_its_own_transaction": (Failpoint.CHARGE_WRITTEN, "charge entries are"),
    "charge_after_the_answer": (Failpoint.RELEASE_COMMITTED, "before any charge"),
    "lease_without_end": (Failpoint.RUNNING, "is stuck"),
    "releases_after_their_audits_end": (Failpoint.RELEASE_WRITTEN, "release entries are"),
    # Who saw that it was released in the instant before the kill asks for what is gone.
    "noise_drawn_again": (Failpoint.RELEASE_COMMITTED, "was delivered 2 ways|was answered 409"),
    "everybody_is_scored": (Failpoint.RUNNING, "left out"),
    "keys_are_forgotten": (Failpoint.CHARGE_COMMITTED, "audits for 2 keys"),
    "refund_without_the_people": (Failpoint.CANCEL_WRITTEN, "people's balances differ"),
    "steps_are_not_written_down": (Failpoint.BATCH_TAKEN, "two things in one step"),
}


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Databases:
    return on_sqlite(tmp_path_factory.mktemp("faults"))


def test_there_is_a_kill_for_every_mutant() -> None:
    assert FOUND.keys() == MUTANTS.keys()


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_harness_finds_the_mutant(mutant: str, databases: Databases, tmp_path: Path) -> None:
    boundary, words = FOUND[mutant]
    # Something must have been delivered before it can be delivered otherwise.
    plan = (Kill(boundary, 2 if mutant == "noise_drawn_again" else 1),)
    case = Case(databases.copy(), tmp_path, plan, mutant)
    violations = case.run(scenario_of(boundary))
    assert case.orders.killed == 1, (tmp_path / "log").read_text()
    assert any(re.search(words, violation) for violation in violations), violations


def test_the_service_as_it_is_violates_nothing(databases: Databases, tmp_path: Path) -> None:
    plan = (Kill(Failpoint.RELEASE_WRITTEN), Kill(Failpoint.RUNNING, 2), Kill(Failpoint.NOISED))
    case = Case(databases.copy(), tmp_path, plan)
    assert case.run(Case.everything) == []
    assert case.orders.killed == 3


def test_three_are_released_together(databases: Databases, tmp_path: Path) -> None:
    scene = databases.copy()
    assert Case(scene, tmp_path, ()).run(Case.together) == []
    store = Store(scene.database_url)
    with store.read() as session:
        entries = session.exec(select(EntryRow).where(EntryRow.kind == "release")).all()
    store.close()
    assert len(entries) == 3
    assert len({entry.at for entry in entries}) == 1
