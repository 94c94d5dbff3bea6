"""The table of transitions: whole, without dead ends, and what it does not have cannot happen."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from api.db import ApplicationRow
from api.kernel.errors import ConflictError
from api.vetting.applications import change_state
from api.vetting.calendar import Calendar
from api.vetting.state_machine import CHANGES, PERIODS
from openapi.resources import ApplicationState, Role
from openapi.resources.vetting import Decision, MediationOutcome
from tests.refusals import refuses

CALENDAR = Calendar(ZoneInfo("Europe/Brussels"))
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
STATES: tuple[ApplicationState, ...] = get_args(ApplicationState)
ROLES: tuple[Role, ...] = get_args(Role)
FINAL = {"withdrawn", "refused", "settled"}
EVENTS = {
    *get_args(Decision),
    *get_args(MediationOutcome),
    "answer",
    "withdraw",
    "ask-amendment",
}


def application(state: str, due: datetime | None = None) -> ApplicationRow:
    return ApplicationRow(
        id="application_1",
        state=state,
        version=1,
        entry=0,
        principal_id="researcher_1",
        submitted_at=MONDAY,
        due=due,
    )


def test_the_table_is_about_states_and_events_that_there_are() -> None:
    assert {state for state, _ in CHANGES} | {change.to for change in CHANGES.values()} == set(
        STATES
    )
    assert {event for _, event in CHANGES} == EVENTS
    assert set(PERIODS) == set(STATES) - FINAL
    assert {state for state, _ in CHANGES} == set(STATES) - FINAL


def test_every_state_can_be_reached_and_every_case_can_end() -> None:
    reached: set[str] = {"submitted"}
    ahead = set(reached)
    while ahead:
        ahead = {str(c.to) for (state, _), c in CHANGES.items() if state in ahead} - reached
        reached |= ahead
    assert reached == set(STATES)
    ending = set(FINAL)
    for _ in STATES:
        ending |= {state for (state, _), change in CHANGES.items() if change.to in ending}
    assert ending == set(STATES)


@pytest.mark.parametrize("role", ROLES)
def test_what_the_table_does_not_have_cannot_happen(role: Role) -> None:
    later = MONDAY + timedelta(days=1)
    for state, event in product(STATES, sorted(EVENTS)):
        row = application(state, due=later)
        change = CHANGES.get((state, event))
        if change is not None and role in change.by:
            change_state(row, event, role, MONDAY, CALENDAR, days=10)
            assert row.state == change.to
            assert (row.due is None) == (change.to in FINAL)
        else:
            with refuses(ConflictError, state):
                change_state(row, event, role, MONDAY, CALENDAR)
            assert (row.state, row.due) == (state, later)


def test_applicants_regulators_and_operators_have_their_own_steps() -> None:
    for (state, event), change in CHANGES.items():
        if event in get_args(Decision):
            assert change.by == {"regulator"}
        if event in ("answer", "withdraw"):
            assert change.by == {"applicant", "auditor"}
        if state == "approved":
            assert change.by == {"operator"}


@pytest.mark.parametrize(
    ("state", "event", "role", "due"),
    [
        # 15 days from Monday 2 March end on Tuesday 17 March.
        ("submitted", "approve", "regulator", "2026-03-17T23:00:00Z"),
        ("approved", "ask-amendment", "operator", "2026-03-17T23:00:00Z"),
        # Five working days end on Monday 9 March.
        ("amendment-requested", "reject-amendment", "regulator", "2026-03-09T23:00:00Z"),
        # Twenty working days end on Monday 30 March, which is in summer time.
        ("amendment-decided", "requested", "operator", "2026-03-30T22:00:00Z"),
        # Forty, the first of them that Monday, end on Friday 24 April.
        ("mediation-requested", "opened", "regulator", "2026-04-24T22:00:00Z"),
    ],
)
def test_a_period_begins_with_each_state(state: str, event: str, role: Role, due: str) -> None:
    row = application(state, due=MONDAY + timedelta(days=400))
    change_state(row, event, role, MONDAY, CALENDAR, days=40)
    assert row.due == datetime.fromisoformat(due)


def test_the_applications_own_clock_does_not_stop() -> None:
    due = MONDAY + timedelta(days=100)
    row = application("submitted", due)
    change_state(row, "request-changes", "regulator", MONDAY, CALENDAR)
    assert row.due == due
    change_state(row, "answer", "applicant", MONDAY, CALENDAR)
    assert (row.state, row.due) == ("submitted", due)


@pytest.mark.parametrize(
    ("state", "event", "role", "binding"),
    [
        ("approved", "ask-amendment", "operator", True),
        ("amendment-decided", "requested", "operator", True),
        ("submitted", "approve", "regulator", False),
        ("amendment-requested", "accept-amendment", "regulator", False),
        ("in-mediation", "agreed", "regulator", False),
    ],
)
def test_only_the_platform_can_be_too_late(
    state: str, event: str, role: Role, binding: bool
) -> None:
    in_time = application(state, due=MONDAY + timedelta(microseconds=1))
    change_state(in_time, event, role, MONDAY, CALENDAR, days=1)
    late = application(state, due=MONDAY)
    if not binding:
        return change_state(late, event, role, MONDAY, CALENDAR, days=1)
    with refuses(ConflictError, "period-ended", "2026-03-02", "Europe/Brussels") as refusal:
        change_state(late, event, role, MONDAY, CALENDAR)
    assert refusal.value.members["due"] == "2026-03-02T09:00:00.000000Z"
    return None
