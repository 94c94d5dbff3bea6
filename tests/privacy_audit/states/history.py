"""History: what happened to each audit, noted by the search and not read from the service's tables.

Debits are seen in the balances, before and after each operation. Reads are seen by the platform's
adapter, draws by the failpoint after noise. The invariants compare these with what is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from api.accounting import balance_blocks
from tests.privacy_audit.states.observed import Observed
from tests.privacy_audit.states.world import World

Balances = Mapping[int, int]
PICO = 10**12


@dataclass(frozen=True)
class Past:
    """One audit so far: whom it debits, whom it has ever read, and its draws of noise."""

    debited: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    # Draws that were not lost with their process, or with a run that another one replaced.
    draws: int = 0
    # The release as it was first stored.
    release: str | None = None
    # Whether a proof did not hold while the audit was open.
    refuted: bool = False


@dataclass(frozen=True)
class History:
    """All audits in the order of their charges, and the balances at this moment."""

    audits: tuple[Past, ...] = ()
    spent: Mapping[int, int] = field(default_factory=dict)
    # What is wrong with the operation itself.
    faults: tuple[str, ...] = ()

    def after(self, world: World, observed: Observed) -> "History":
        """Return the history with one operation more."""
        rows = audits_of(world)
        spent = balances(world, "spent")
        moved = {person: spent.get(person, 0) - self.spent.get(person, 0) for person in people()}
        pasts = [*self.audits, *[Past()] * (len(rows) - len(self.audits))]
        named = observed.audits | observed.ended
        touched = [number for number, row in enumerate(rows) if row["id"] in named]
        faults, stored = [], {row["audit_id"] for row in world.rows(_STORED)}
        for number in touched:
            row = rows[number]
            lost = (observed.crashed or observed.replaced) and row["id"] not in stored
            pasts[number] = _changed(pasts[number], row, moved, observed, lost=lost)
        for person, amount in moved.items():
            if amount != _explained(self, pasts, rows, person):
                faults.append(f"the balance of {person} moved by {Fraction(amount, PICO)}")
        if observed.read and not observed.audits:
            faults.append(f"{sorted(observed.read)} were read for no audit")
        releases = {row["audit_id"]: row["digest"] for row in world.rows(_RELEASES)}
        pasts = [
            _released(past, releases.get(row["id"])) for past, row in zip(pasts, rows, strict=True)
        ]
        return History(tuple(pasts), spent, tuple(faults))


def people() -> range:
    return range(3)


def audits_of(world: World) -> list[dict[str, Any]]:
    """Return every audit with its charge, in the order of their charges."""
    return world.rows(
        "SELECT a.id, a.kind, a.state, a.failure, c.rho, c.debit, c.period, c.refunded_at,"
        " c.audience_id, s.source FROM audits a JOIN charges c ON c.audit_id = a.id"
        " LEFT JOIN audiences s ON s.id = c.audience_id ORDER BY a.rowid"
    )


def balances(world: World, column: str) -> dict[int, int]:
    """Return every balance that is not zero, in millionths of a millionth."""
    found = {}
    for row in world.rows(f"SELECT number, {column} AS packed FROM person_blocks"):
        values = balance_blocks.unpack([row["packed"]])[0] if row["packed"] is not None else ()
        for place, value in enumerate(values):
            if value:
                found[row["number"] * balance_blocks.BLOCK + place] = int(value)
    return found


_RELEASES = "SELECT audit_id, digest FROM releases"
# Audits whose draw is stored: released, or answered and not yet delivered.
_STORED = (
    "SELECT audit_id FROM releases UNION"
    " SELECT audit_id FROM two_party_runs WHERE answered_at IS NOT NULL"
)


def _changed(
    past: Past,
    row: Mapping[str, Any],
    moved: Mapping[int, int],
    observed: Observed,
    *,
    lost: bool,
) -> Past:
    """Return one audit after an operation on it; `lost`: its draw went with its run."""
    debited = set(past.debited)
    debited |= {person for person, amount in moved.items() if amount == row["rho"]}
    debited -= {person for person, amount in moved.items() if amount == -row["rho"]}
    goes_on = row["id"] in observed.audits
    return replace(
        past,
        debited=frozenset(debited),
        read=past.read | (observed.read if goes_on else set()),
        draws=past.draws + (observed.draws if goes_on and not lost else 0),
        refuted=past.refuted or row["id"] in observed.refuted,
    )


def _explained(before: History, after: list[Past], rows: list[dict[str, Any]], person: int) -> int:
    """Return how far a balance moves if each audit debits those it is seen to debit, once."""
    earlier = [*before.audits, *[Past()] * (len(after) - len(before.audits))]
    return sum(
        row["rho"] * ((person in now.debited) - (person in then.debited))
        for then, now, row in zip(earlier, after, rows, strict=True)
    )


def _released(past: Past, digest: str | None) -> Past:
    return past if past.release is not None else replace(past, release=digest)
