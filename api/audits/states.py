"""State machine of an audit: all changes of state, with their causes.

    charged → running → released, or failed, or cancelled

R3: a charge is refunded only in the state `charged`, before anything about a person was read. A
change that is not in `TRANSITIONS` cannot happen.
"""

from collections.abc import Mapping
from typing import Final, cast

from api.db import AuditRow
from openapi.resources import AuditState

FIRST: Final[AuditState] = "charged"
# (before, after) → cause.
TRANSITIONS: Mapping[tuple[AuditState, AuditState], str] = {
    ("charged", "running"): "a worker takes the audit, or a two-party run begins to read",
    ("charged", "cancelled"): "cancelled, stopped or abandoned before reading: refunded",
    ("charged", "failed"): "a two-party run fails before reading: wrong proof",
    ("running", "running"): "the next worker or run resumes on the same charge",
    ("running", "released"): "the release commits",
    ("running", "failed"): "no attempt left, stopped, or the platform is down: charge stays",
}


def states_after(state: AuditState) -> frozenset[AuditState]:
    """Return the states that may follow."""
    return frozenset(after for before, after in TRANSITIONS if before == state)


# States that an audit can leave.
OPEN: Final[tuple[AuditState, ...]] = tuple(dict.fromkeys(before for before, _ in TRANSITIONS))
# States that an audit cannot leave.
FINAL: Final[tuple[AuditState, ...]] = tuple(
    dict.fromkeys(after for _, after in TRANSITIONS if after not in OPEN)
)


def change_state(row: AuditRow, after: AuditState) -> None:
    """Change the state of a locked audit; raise `ValueError` if the change is not a transition."""
    if after not in states_after(cast("AuditState", row.state)):
        raise ValueError(f"An audit in state {row.state} cannot change to {after}.")
    row.state = after
