"""Rules of the accounts: what was spent is the sum of what was charged, for everybody.

The accounts are recomputed twice: from the ledger by the code of `tests.faults.snapshot`, which
uses nothing of the service, and by the service's own inspection (`persons verify`).
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from api.db import Store
from api.kernel.settings import Settings
from api.operations.reconciliation import inspect
from tests.histories.evidence import Evidence


def violations(evidence: Evidence, store: Store, settings: Settings) -> Iterator[str]:
    cap = Fraction(settings.person_lifetime_rho)
    yield from evidence.snapshot.accounts()
    yield from _negative(evidence)
    yield from _people(evidence, cap)
    found = inspect(store, cap, settings)
    if not found.sound:
        yield f"the inspection of people's balances finds {found}"


def _negative(evidence: Evidence) -> Iterator[str]:
    """No account is below zero, and no mandate is above its limit."""
    for mandate in evidence.snapshot.mandates:
        if min(mandate.spent, mandate.period_spent, mandate.exploration_spent) < 0:
            yield f"{mandate.id} has spent less than nothing: {mandate.spent}"
        if mandate.spent > mandate.limit:
            yield f"{mandate.id} has spent {mandate.spent} of {mandate.limit}"
    if evidence.snapshot.account.spent < 0:
        yield f"the platform's account has spent {evidence.snapshot.account.spent}"


def _people(evidence: Evidence, cap: Fraction) -> Iterator[str]:
    """Replay the ledger over the people that clients asked for, erased audiences included."""
    snapshot = replace(evidence.snapshot, people=evidence.people)
    for audience_id, groups in evidence.people.items():
        row = evidence.audiences.get(audience_id)
        if row and row.state == "sealed" and evidence.snapshot.people[audience_id] != groups:
            yield f"{audience_id} has other people than were asked for"
    if missing := {row.audience_id for row in snapshot.charges.values()} - snapshot.people.keys():
        yield f"audits were charged on audiences that no client knows: {sorted(missing)}"
        return
    balances, left_out = snapshot.replay(cap)
    differ = {
        who
        for who in balances.keys() | snapshot.balances.keys()
        if balances.get(who, 0) != snapshot.balances.get(who, 0)
    }
    if differ:
        yield f"{len(differ)} people have another balance than the ledger says"
    for charge in snapshot.charges.values():
        # An erased audience forgets who was left out.
        if evidence.audiences[charge.audience_id].state == "sealed" and (
            snapshot.excluded(charge.audit_id, charge.audience_id) != left_out.get(charge.audit_id)
        ):
            yield f"others than those above the cap are left out of {charge.audit_id}"
