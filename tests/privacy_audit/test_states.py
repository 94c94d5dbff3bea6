"""The state search finds mistakes that are put into the accounting, and none without them."""

from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from api import cancelling, persons, work
from api.audiences.uploads import groups_of
from api.audits.score_histogram import ScoreHistogram
from api.charging import record_people
from api.store import AuditRow
from api.two_party import half
from api.worker import Worker
from tests.privacy_audit.states.everything import DEPTHS, SCENES
from tests.privacy_audit.states.search import search

CHARGED = ("upload", "seal upload", "charge histogram, upload")


def wrong(depth: int, *beginning: str) -> list[str]:
    """Return the sentences of the first violation that a search finds."""
    found = search(depth, beginning, most_violations=1)
    return [sentence for _, each in found.violations for sentence in each]


def test_nothing_is_wrong_within_a_few_operations() -> None:
    assert wrong(2) == wrong(2, *CHARGED) == []
    assert wrong(1, "hide", "charge two-party, hidden") == []


def test_people_whom_another_audit_found_are_read_without_a_debit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mistake that the search was built for: a charge that does not bind people."""

    def shared(session: Any, charge: Any, audience: Any, found: Any, settings: Any) -> None:
        record_people(session, charge, audience, found, settings)
        # The database would refuse it too.
        session.execute(text("DROP TRIGGER IF EXISTS hidden_people_belong_to_charges"))
        [group] = groups_of(session, audience.id)
        group.people = np.sort(found).astype("<i8").tobytes()
        session.add(group)

    monkeypatch.setattr(ScoreHistogram, "sources", frozenset({"upload", "hidden"}))
    monkeypatch.setattr(half, "record_people", shared)
    monkeypatch.setattr(work, "HIDDEN", "")
    monkeypatch.setattr(work, "is_bound", lambda *_: True)
    beginning = "hide", "charge two-party, hidden", "charge histogram, hidden"
    assert any("whom it did not debit" in each for each in wrong(2, *beginning))


def test_people_above_the_cap_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persons, "able", lambda people, _: np.frombuffer(people, "<i8"))
    monkeypatch.setattr(work, "is_bound", lambda *_: True)
    found = wrong(1, *CHARGED, "charge histogram, upload", "run")
    assert any("releases of rho = 4" in each for each in found)


def test_a_charge_is_given_back_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    given = cancelling.give_back

    def kept(session: Any, at: Any, row: AuditRow, *settings: Any) -> None:
        given(session, at, row, *settings)
        row.state = "charged"
        session.add(row)

    monkeypatch.setattr(cancelling, "give_back", kept)
    assert any("given back" in each for each in wrong(2, *CHARGED))


def test_noise_is_drawn_again_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Worker, "_fail_drawn", lambda self, audit, _: self._give_back(audit, "internal")
    )
    assert any("draws of noise" in each for each in wrong(2, *CHARGED))


def test_the_sizes_begin_where_they_say() -> None:
    assert DEPTHS.keys() == SCENES.keys()
