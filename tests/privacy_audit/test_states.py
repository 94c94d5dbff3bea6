"""The state search finds mistakes that are put into the accounting, and none without them."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from api.accounting import lifetime_caps
from api.accounting.charge import record_people
from api.audiences.uploads import load_groups
from api.audits import cancellation, job
from api.audits.queue.worker import Worker
from api.db import AuditRow
from api.kinds.score_histogram import ScoreHistogram
from api.two_party import exchange, platform_half
from openapi.resources import AuditState
from tests.privacy_audit.states.everything import SCENES
from tests.privacy_audit.states.search import search

CHARGED = ("upload", "seal upload", "charge histogram, upload")
UPLOADED = ("upload", "seal upload", "charge two-party, upload")
HIDDEN = ("hide", "charge two-party, hidden")


def wrong(depth: int, *beginning: str, fine: bool = False) -> list[str]:
    """Return the sentences of the first violation that a search finds."""
    found = search(depth, beginning, most_violations=1, fine=fine)
    return [sentence for _, each in found.violations for sentence in each]


def test_nothing_is_wrong_within_a_few_operations() -> None:
    assert wrong(2) == wrong(2, *CHARGED) == []
    assert wrong(1, *HIDDEN) == wrong(1, "sample", "charge histogram, sample") == []


@pytest.mark.parametrize("beginning", [HIDDEN, UPLOADED])
def test_nothing_is_wrong_within_a_few_steps_of_a_run(beginning: tuple[str, ...]) -> None:
    label = "bob, cat" if beginning is HIDDEN else "the upload"
    live = (*beginning, f"begin 0 at 0, {label}", "go on 0 at 0")
    assert wrong(1, *live, fine=True) == []


def test_an_end_between_the_steps_of_a_run_is_looked_at() -> None:
    """A live run meets a cancellation, another HELLO in either process, and the end of its own."""
    found = search(1, (*HIDDEN, "begin 0 at 0, bob, cat", "go on 0 at 0"), fine=True)
    assert found.operations.keys() >= {"cancel", "begin", "give", "end", "ask", "charge", "erase"}
    assert found.operations["begin"] == 4
    assert found.operations["ask"] == 11


def test_samples_pay_for_no_two_party_audit() -> None:
    # Nobody knows the rows of a sample: the kind refuses it before it is charged.
    found = search(1, ("sample",))
    assert found.operations["charge"] == 2
    assert found.violations == []


def test_a_wrong_proof_that_ends_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "fail_run", lambda *_: True)
    found = wrong(1, *HIDDEN, "begin 0 at 0, bob, cat", fine=True)
    assert any("was sent a wrong proof, and goes on" in each for each in found)
    assert any("was sent a wrong proof" in each for each in wrong(1, *HIDDEN))


def test_an_answer_that_may_draw_again_after_a_fault_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exchange, "final_once_drawn", lambda *_: nullcontext())
    assert any("draws of noise" in each for each in wrong(2, *UPLOADED))


def test_a_run_that_reads_after_its_cancellation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit is given back while its run is under way, and nothing in the run looks at that."""

    def unlocked(session: Any, audit_id: str, _: str) -> AuditRow:
        found: AuditRow = session.get_one(AuditRow, audit_id)
        return found

    def unchecked(row: AuditRow, after: AuditState) -> None:
        row.state = after

    monkeypatch.setattr(platform_half, "lock_audit", unlocked)
    monkeypatch.setattr(platform_half, "change_state", unchecked)
    live = "begin 0 at 0, the upload", "go on 0 at 0"
    found = wrong(1, *UPLOADED, *live, fine=True)
    assert any("audit 0 (two-party" in each for each in found)


def test_people_whom_another_audit_found_are_read_without_a_debit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mistake that the search was built for: a charge that does not bind people."""

    def shared(session: Any, charge: Any, audience: Any, found: Any, settings: Any) -> None:
        record_people(session, charge, audience, found, settings)
        # The database would refuse it too.
        session.execute(text("DROP TRIGGER IF EXISTS hidden_people_belong_to_charges"))
        [group] = load_groups(session, audience.id)
        group.people = np.sort(found).astype("<i8").tobytes()
        session.add(group)

    monkeypatch.setattr(ScoreHistogram, "sources", frozenset({"upload", "hidden"}))
    monkeypatch.setattr(platform_half, "record_people", shared)
    monkeypatch.setattr(job, "HIDDEN", "")
    monkeypatch.setattr(job, "is_bound", lambda *_: True)
    beginning = "hide", "charge two-party, hidden", "charge histogram, hidden"
    assert any("whom it did not debit" in each for each in wrong(2, *beginning))


def test_people_above_the_cap_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        lifetime_caps, "encode_people_within_cap", lambda people, _: np.frombuffer(people, "<i8")
    )
    monkeypatch.setattr(job, "is_bound", lambda *_: True)
    found = wrong(1, *CHARGED, "charge histogram, upload", "run")
    assert any("releases of rho = 4" in each for each in found)


def test_a_charge_is_given_back_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    given = cancellation.give_back

    def kept(session: Any, at: Any, row: AuditRow, *settings: Any) -> None:
        given(session, at, row, *settings)
        row.state = "charged"
        session.add(row)

    monkeypatch.setattr(cancellation, "give_back", kept)
    assert any("given back" in each for each in wrong(2, *CHARGED))


def test_noise_is_drawn_again_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Worker, "_fail_drawn", lambda self, audit, _: self._give_back(audit, "internal")
    )
    assert any("draws of noise" in each for each in wrong(2, *CHARGED))


def test_the_full_size_is_deeper_from_every_beginning() -> None:
    assert all(0 < scene.depth < scene.long_depth for scene in SCENES.values())
