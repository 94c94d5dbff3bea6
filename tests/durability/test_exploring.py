"""kill -9 while people are shown other recommendations: no step is repeated or uncounted."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from sqlmodel import select

from api.app.container import Container
from api.db import CourseRow
from auditor_client import Regulator
from openapi.resources import Audit, EnvyFreenessRequest, Mandate, MandateDraft
from tests.durability.processes import Host, StoredAudits, kill, until
from tests.exploring import asked, consenting_sample

pytestmark = pytest.mark.long

# Batches of 200 steps: a second each.
STEPS, HELD, BATCH = 500, 250, 200
TARGETS, PEOPLE = 6, 24


@pytest.fixture
def explored(host: Host) -> Iterator[tuple[Host, Container]]:
    with host.serving() as service:
        yield host, service


def request(audience_id: str) -> EnvyFreenessRequest:
    # Nobody is told from others by more than 0.01 in so few steps: all run to the ceiling.
    sizes = {"targets": TARGETS, "arms": 5, "steps": STEPS, "arms_per_person": TARGETS}
    shares = {"gamma": "0.9", "lam": "0.9", "tolerance": "0.01"}
    return asked(audience_id, **sizes, **shares, alpha="0.05", epsilon="1")


def steps_of(host: Host, pid: int) -> list[tuple[int, ...]]:
    """Target, step and arm of every step that this process has asked for."""
    file = host.folder / f"steps-{pid}"
    # What is being written at this moment may end in the middle of a line.
    whole = file.read_text().rpartition("\n")[0] if file.exists() else ""
    return [tuple(int(word) for word in line.split()) for line in whole.splitlines()]


def test_a_worker_killed_between_two_steps_is_taken_over_where_it_was(
    explored: tuple[Host, Container],
) -> None:
    host, service = explored
    auditor = host.auditor()
    with Regulator(host.url, host.regulator_id, host.regulator_key) as regulator:
        [old] = auditor.budget().mandates
        kept = ("auditor_id", "purpose", "valid_from", "valid_until")
        fields = {name: getattr(old, name) for name in kept}
        more = {"kinds": ["envy-freeness"], "epsilon_limit": "100", "exploration_limit": "1000"}
        draft = MandateDraft.model_validate(fields | more)
        regulator._statements.post("/v1/regulator/mandates", "mandate", draft, Mandate)
    (host.folder / f"hold-{HELD}").touch()
    first = host.worker()
    audit = auditor.audits.submit(request(consenting_sample(auditor, PEOPLE).id))
    until(
        lambda: any(step == HELD for _, step, _ in steps_of(host, first.pid)), "the step to begin"
    )
    kill(first)
    # Who withdraws now was to take part in the batch that was begun, and does.
    withdrawn = min(target for target, _, _ in steps_of(host, first.pid))
    (host.folder / "withdrawn").write_text(str(withdrawn))

    (host.folder / f"hold-{HELD}").unlink()
    worker = service.worker()

    def released() -> bool:
        """It is taken over when the lease of the dead has run out, and may be left to wait."""
        worker.run_one()
        return auditor.audits.state(audit.id).state == "released"

    until(released, "another worker to finish it")
    before, after = steps_of(host, first.pid), steps_of(host, os.getpid())
    check_steps(before, after, withdrawn)
    check_books(host, audit)


def check_steps(before: list[Any], after: list[Any], withdrawn: int) -> None:
    arms = {(target, step): arm for target, step, arm in before}
    # What is asked for again is what was asked for, and only of the batch that was not written.
    again = [row for row in after if row[:2] in arms]
    assert again
    assert all(arms[target, step] == arm for target, step, arm in again)
    assert min(step for _, step, _ in after) >= BATCH
    taken = set(arms) | {row[:2] for row in after}
    targets = {target for target, _ in taken}
    assert 1 < len(targets) <= TARGETS
    for target in targets:
        steps = [s for t, s in taken if t == target]
        last = 2 * BATCH if target == withdrawn else STEPS
        assert sorted(steps)[0] == 0
        assert len(steps) == max(steps) + 1
        assert last <= len(steps) <= last + 10 if target == withdrawn else len(steps) == last


def check_books(host: Host, audit: Audit) -> None:
    stored = StoredAudits.of(host.store)
    stored.check()
    [charge] = [row for row in stored.charges if row.audit_id == audit.id]
    assert charge.exploration_loss == audit.request.exploration_loss == 150
    with host.store.read() as session:
        assert session.exec(select(CourseRow)).all() == []
