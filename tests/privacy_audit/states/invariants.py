"""Invariants of the accounting, checked after every operation of the search.

1. Nobody's released rho exceeds the cap, counted over the people that the adapter saw being read.
2. No balance is negative or above the cap.
3. Spent equals the sum of charges: of people, of the mandate, of the platform, and in the ledger.
4. The people read for a release are those debited for it, and nobody else is ever read. (A second
   run of a two-party audit may name fewer people than the run that fixed the set.)
5. One draw of noise per charge: draws that were not lost with their run, and one release.
6. A proof that does not hold ends its audit, and the charge stays.
"""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tests.privacy_audit.states.history import (
    PICO,
    History,
    audits_of,
    balances,
    people,
)
from tests.privacy_audit.states.world import CAP, LIFETIME, LIMIT, World

_CAP = int(CAP * PICO)


def violations(world: World, history: History) -> list[str]:
    """Return what is wrong in the state that the world is in; nothing if all invariants hold."""
    rows = audits_of(world)
    found = [
        *history.faults,
        *_of_people(world, history, rows),
        *_of_accounts(world, rows),
        *_of_audits(world, history, rows),
    ]
    return [f"{sentence}." for sentence in found]


def _of_people(world: World, history: History, rows: list[dict[str, Any]]) -> Iterator[str]:
    erased = {row["id"] for row in world.rows("SELECT id FROM audiences WHERE state = 'erased'")}
    carried = balances(world, "carried")
    pasts = list(zip(history.audits, rows, strict=True))
    for person in people():
        spent = history.spent.get(person, 0)
        if not 0 <= spent <= _CAP:
            yield f"the balance of {person} is {Fraction(spent, PICO)}"
        charged = sum(row["rho"] for past, row in pasts if person in past.debited)
        if spent != charged:
            yield f"{person} has {Fraction(spent, PICO)} and was debited {Fraction(charged, PICO)}"
        released = sum(
            row["rho"] for past, row in pasts if row["state"] == "released" and person in past.read
        )
        if released > _CAP:
            yield f"releases of rho = {Fraction(released, PICO)} were computed on {person}"
        kept = sum(
            row["rho"]
            for past, row in pasts
            if row["audience_id"] in erased and person in past.debited
        )
        if carried.get(person, 0) != kept:
            yield f"what is carried forward of {person} is not what erased audiences cost"


def _of_accounts(world: World, rows: list[dict[str, Any]]) -> Iterator[str]:
    standing = [row for row in rows if row["refunded_at"] is None]
    spent = sum(row["debit"] for row in standing)
    [mandate] = world.rows("SELECT spent, period, period_spent FROM mandates")
    period = sum(row["debit"] for row in standing if row["period"] == mandate["period"])
    if (mandate["spent"], mandate["period_spent"]) != (spent, period):
        yield "what the mandate has spent is not the sum of its charges"
    if period > LIMIT * PICO or spent > LIFETIME * PICO:
        yield "the mandate has spent more than its limit"
    # One window lasts longer than all days of the search but the last, on which nothing is charged.
    [account] = world.rows("SELECT spent FROM platform_account")
    if account["spent"] != sum(row["rho"] for row in standing):
        yield "what the platform has spent is not the sum of all charges"
    if _of_ledger(world) != spent:
        yield "what the ledger says was spent is not the sum of all charges"


def _of_ledger(world: World) -> int:
    signs = {"charge": 1, "refund": -1}
    entries = world.rows("SELECT kind, text FROM ledger WHERE kind IN ('charge', 'refund')")
    amounts = (
        signs[entry["kind"]] * Fraction(json.loads(entry["text"])["facts"]["debit"])
        for entry in entries
    )
    return int(sum(amounts, Fraction(0)) * PICO)


def _of_audits(world: World, history: History, rows: list[dict[str, Any]]) -> Iterator[str]:
    digests = {row["audit_id"]: row["digest"] for row in world.rows("SELECT * FROM releases")}
    for number, (past, row) in enumerate(zip(history.audits, rows, strict=True)):
        name = f"audit {number} ({row['kind']}, {row['state']})"
        if not past.read <= past.debited and row["state"] != "cancelled":
            yield f"{name} read {sorted(past.read - past.debited)}, whom it did not debit"
        yield from _of_end(name, past, row, digests)


def _of_end(
    name: str, past: Any, row: Mapping[str, Any], digests: Mapping[str, str]
) -> Iterator[str]:
    everybody = row["source"] != "hidden"
    if row["state"] == "released" and everybody and past.read != past.debited:
        yield f"{name} debited {sorted(past.debited)} and read {sorted(past.read)}"
    if row["state"] == "cancelled" and (past.debited or past.read):
        yield f"{name} was given back, but people were read or are still debited"
    if (row["state"] == "cancelled") != (row["refunded_at"] is not None):
        yield f"{name} and its charge do not agree on whether it was given back"
    if past.refuted and (row["state"] != "failed" or row["refunded_at"] is not None):
        yield f"{name} was sent a wrong proof, and goes on"
    if past.draws > 1 or (row["state"] == "released" and past.draws != 1):
        yield f"{name} has {past.draws} draws of noise on one charge"
    if past.release != digests.get(row["id"]) or (past.release is None) == (
        row["state"] == "released"
    ):
        yield f"{name} does not have the one release that was stored"
