"""For an inspection on site: what people have borne, recomputed from audiences and the ledger.

Every balance must be what erased audiences carried forward plus the charges of the ledger on the
sealed audiences a person is in, and none may be above the cap. The part of it that samples bore,
which is kept apart, must be the same sum over samples. The outcome is for the platform and the
inspector beside it: it is never served.
"""

import json
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, select

from api.blocks import BLOCK, Balances, Blocks
from api.charging import bearers
from api.persons import paid
from api.store import AudienceRow, EntryRow, PersonBlockRow, Store
from api.store.types import to_pico


@dataclass(frozen=True)
class Inspection:
    """How many people have a balance, and what is wrong with how many of them."""

    people: int
    charges: int
    differing: int
    above_cap: int

    @property
    def sound(self) -> bool:
        return self.differing == 0 and self.above_cap == 0


def inspect(store: Store, cap: Fraction) -> Inspection:
    with store.snapshot() as session:
        charges = _charges(session)
        blocks = Blocks.load(session, _all_blocks(session))
        expected, lost = _expected(session, blocks, charges)
    spent = blocks["spent"]
    differing = (spent != expected["spent"]) | (blocks["drawn"] != expected["drawn"])
    return Inspection(
        people=int(np.count_nonzero(spent)),
        charges=len(charges),
        differing=int(np.count_nonzero(differing)) + lost,
        above_cap=int(np.count_nonzero(spent > to_pico(cap))),
    )


def _expected(
    session: Session, blocks: Blocks, charges: list[tuple[str, str, Fraction]]
) -> tuple[dict[str, Balances], int]:
    """Balances as they should be, and how many people should have one who have no block at all."""
    expected = {"spent": blocks["carried"].copy(), "drawn": blocks["carried_drawn"].copy()}
    lost = np.empty(0, np.int64)
    for audit_id, audience_id, rho in charges:
        audience = session.get_one(AudienceRow, audience_id)
        if audience.state == "sealed":
            everyone = bearers(session, audit_id, audience).everyone()
            known = np.isin(everyone // BLOCK, blocks.numbers)
            place = blocks.place(everyone[known])
            for column in paid(drawn=audience.source == "sample"):
                expected[column][place] += to_pico(rho)
            lost = np.union1d(lost, everyone[~known])
    return expected, len(lost)


def _charges(session: Session) -> list[tuple[str, str, Fraction]]:
    """Audit, audience and rho of every charge in the ledger that was not refunded."""
    kinds = col(EntryRow.kind).in_(("charge", "refund"))
    entries = session.exec(select(EntryRow).where(kinds).order_by(col(EntryRow.number)))
    bodies = [json.loads(entry.text) for entry in entries]
    refunded = {body["facts"]["audit_id"] for body in bodies if body["kind"] == "refund"}
    return [
        (
            body["facts"]["audit_id"],
            body["statement"]["body"]["audience_id"],
            Fraction(body["facts"]["rho"]["change_one"]),
        )
        for body in bodies
        if body["kind"] == "charge" and body["facts"]["audit_id"] not in refunded
    ]


def _all_blocks(session: Session) -> NDArray[np.int64]:
    query = select(PersonBlockRow.number).order_by(col(PersonBlockRow.number))
    return np.array(session.exec(query).all(), np.int64)
