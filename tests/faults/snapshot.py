"""Invariants of the database after any event, recomputed from scratch and slowly.

The ledger is replayed entry by entry: what every mandate has spent, what the platform's account
has, what every person has borne and who was left out follow from it, and must be what the tables
say. Nothing of the accountant's own code is used.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sqlmodel import Session, col, select

from api.accounting.balance_blocks import BLOCK, unpack
from api.db import (
    AuditRow,
    ChargedPeopleRow,
    ChargeRow,
    ContentRow,
    EntryRow,
    ExclusionRow,
    GroupRow,
    LedgerEndRow,
    MandateRow,
    PersonBlockRow,
    PlatformAccountRow,
    ReleaseRow,
    Store,
)
from api.kernel.clock import EPOCH
from api.kernel.hard_limits import PLATFORM_WINDOW_DAYS
from privacy.receipts import canonical, digest

PICO = 10**12


@dataclass(frozen=True)
class Snapshot:
    """Every row there is."""

    audits: dict[str, AuditRow]
    charges: dict[str, ChargeRow]
    mandates: list[MandateRow]
    releases: dict[str, ReleaseRow]
    entries: list[EntryRow]
    account: PlatformAccountRow
    head: LedgerEndRow
    titles: dict[str, str]
    people: dict[str, dict[str, list[int]]]
    balances: dict[int, int]
    able: dict[tuple[str, str], list[bool]]

    @classmethod
    def of(cls, store: Store) -> "Snapshot":
        with store.snapshot() as session:  # a killed process may still commit
            people: dict[str, dict[str, list[int]]] = defaultdict(dict)
            for group in session.exec(select(GroupRow)):
                persons = np.frombuffer(group.people or b"", "<i8").tolist()
                people[group.audience_id][group.label] = persons
            for recorded in session.exec(select(ChargedPeopleRow)):
                # Those of a hidden audience belong to its one charge, and the audience is empty.
                audit = session.get_one(AuditRow, recorded.audit_id)
                assert people[audit.audience_id] == {"g0": []}
                people[audit.audience_id]["g0"] = np.frombuffer(recorded.people, "<i8").tolist()
            by_number = select(EntryRow).order_by(col(EntryRow.number))
            return cls(
                audits={row.id: row for row in session.exec(select(AuditRow))},
                charges={row.id: row for row in session.exec(select(ChargeRow))},
                mandates=list(session.exec(select(MandateRow))),
                releases={row.audit_id: row for row in session.exec(select(ReleaseRow))},
                entries=list(session.exec(by_number)),
                account=session.exec(select(PlatformAccountRow)).one(),
                head=session.exec(select(LedgerEndRow)).one(),
                titles={row.digest: row.title for row in session.exec(select(ContentRow))},
                people=people,
                balances=_balances(session),
                able={
                    (row.audit_id, row.label): _bits(row.able)
                    for row in session.exec(select(ExclusionRow))
                },
            )

    def facts(self, kind: str) -> list[dict[str, Any]]:
        """Return the platform's facts in the entries of a kind."""
        return [json.loads(row.text)["facts"] for row in self.entries if row.kind == kind]

    def violations(self, cap: Fraction) -> Iterator[str]:
        """Return the violated invariants."""
        yield from self.accounts()
        yield from self._people(cap)

    def accounts(self) -> Iterator[str]:
        """Yield what is wrong in the ledger, the mandates, the platform's account and releases."""
        yield from self._ledger()
        yield from self._spent()
        yield from self._releases()

    def unfinished(self) -> Iterator[str]:
        """Audits that are not in a final state."""
        for audit in self.audits.values():
            if audit.state in ("charged", "running"):
                yield f"{audit.id} is stuck: it is {audit.state}"

    def _ledger(self) -> Iterator[str]:
        numbers = [entry.number for entry in self.entries]
        if numbers != list(range(self.head.size)):
            yield f"entries are not numbered 0 to {self.head.size - 1}: {numbers}"
        for entry in self.entries:
            text = canonical(json.loads(entry.text))
            if entry.leaf != sha256(b"\0" + text).digest() or entry.text != text.decode():
                yield f"entry {entry.number} is not what its leaf says"
        times = [entry.at for entry in self.entries]
        if times != sorted(times) or times[-1] > self.head.latest:
            yield "the time of the ledger runs backwards"
        charged = Counter(each["charge_id"] for each in self.facts("charge"))
        refunded = Counter(each["charge_id"] for each in self.facts("refund"))
        released = Counter((each["audit_id"], each["digest"]) for each in self.facts("release"))
        yield from _differ("charge entries", charged, Counter(list(self.charges)))
        undone = Counter(row.id for row in self.charges.values() if row.refunded_at)
        yield from _differ("refund entries", refunded, undone)
        kept = Counter((row.audit_id, digest(row.body)) for row in self.releases.values())
        yield from _differ("release entries", released, kept)

    def _spent(self) -> Iterator[str]:
        for mandate in self.mandates:
            mine = [row for row in self.charges.values() if row.mandate_id == mandate.id]
            kept = sum((row.debit for row in mine if not row.refunded_at), Fraction(0))
            entered = sum(
                (
                    Fraction(each["debit"])
                    for each in self._kept()
                    if each["mandate_id"] == mandate.id
                ),
                Fraction(0),
            )
            if not mandate.spent == kept == entered:
                yield (
                    f"{mandate.id} has spent {mandate.spent}, its charges are {kept}, "
                    f"its entries {entered}"
                )
            lost = sum((row.exploration_loss for row in mine if not row.refunded_at), Fraction(0))
            if mandate.exploration_spent != lost:
                yield f"{mandate.id} has let people lose {mandate.exploration_spent}, not {lost}"
            current = [row for row in mine if row.period == mandate.period and not row.refunded_at]
            in_period = sum((row.debit for row in current), Fraction(0))
            if mandate.period_spent != in_period or in_period > mandate.limit:
                yield f"{mandate.id} has {mandate.period_spent} in its period, not {in_period}"
        window = timedelta(days=PLATFORM_WINDOW_DAYS)
        now = [
            row.rho
            for row in self.charges.values()
            if not row.refunded_at and (row.charged_at - EPOCH) // window == self.account.window
        ]
        if self.account.spent != sum(now, Fraction(0)):
            yield f"the platform's account has {self.account.spent}, its charges are {sum(now)}"

    def _releases(self) -> Iterator[str]:
        by_audit = Counter(row.audit_id for row in self.charges.values())
        yield from _differ("charges of audits", by_audit, Counter(list(self.audits)))
        refunded = {row.audit_id for row in self.charges.values() if row.refunded_at}
        for audit in self.audits.values():
            if (audit.state == "released") != (audit.id in self.releases):
                yield f"{audit.id} is {audit.state}, has a release: {audit.id in self.releases}"
            if (audit.state == "cancelled") != (audit.id in refunded):
                yield f"{audit.id} is {audit.state}, refunded: {audit.id in refunded}"
        for audit_id, release in self.releases.items():
            if by_audit[audit_id] != 1 or audit_id in refunded:
                yield f"the release of {audit_id} is not paid for exactly once"
            if release.digest != digest(release.body):
                yield f"the release of {audit_id} is not what its digest says"

    def _people(self, cap: Fraction) -> Iterator[str]:
        balances, left_out = self.replay(cap)
        wrong = {
            person: (self.balances.get(person, 0), balances.get(person, 0))
            for person in self.balances.keys() | balances.keys()
            if self.balances.get(person, 0) != balances.get(person, 0)
        }
        if wrong:
            person, (has, should) = min(wrong.items())
            yield f"{len(wrong)} people's balances differ: {person} has {has}, should have {should}"
        for audit_id, people in left_out.items():
            charge = next(row for row in self.charges.values() if row.audit_id == audit_id)
            if self.excluded(audit_id, charge.audience_id) != people:
                yield f"others than those who could not bear it are left out of {audit_id}"

    def excluded(self, audit_id: str, audience_id: str) -> set[int]:
        """Return the people whom the tables leave out."""
        return {
            person
            for label, persons in self.people[audience_id].items()
            for person, able in zip(persons, self.able.get((audit_id, label), ()), strict=False)
            if not able
        }

    def replay(self, cap: Fraction) -> tuple[dict[int, int], dict[str, set[int]]]:
        """Balances, and who must be left out of each audit, from the ledger alone."""
        balances: dict[int, int] = defaultdict(int)
        left_out: dict[str, set[int]] = {}
        costs: dict[str, tuple[int, set[int]]] = {}
        for entry in self.entries:
            body = json.loads(entry.text)
            facts = body["facts"]
            if entry.kind == "charge":
                cost = int(Fraction(facts["rho"]["change_one"]) * PICO)
                asked = body["statement"]["body"]
                everybody = set[int]().union(*self.people[asked["audience_id"]].values())
                able = {who for who in everybody if balances[who] + cost <= cap * PICO}
                for person in able:
                    balances[person] += cost
                left_out[facts["audit_id"]] = everybody - able
                costs[facts["charge_id"]] = (cost, able)
            elif entry.kind == "refund" and facts["charge_id"] in costs:
                cost, able = costs[facts["charge_id"]]
                for person in able:
                    balances[person] -= cost
        return {who: spent for who, spent in balances.items() if spent}, left_out

    def _kept(self) -> list[dict[str, Any]]:
        refunded = {each["charge_id"] for each in self.facts("refund")}
        return [each for each in self.facts("charge") if each["charge_id"] not in refunded]


@dataclass
class Seen:
    """The view from outside: answers to keys, deliveries, and the people whom the platform
    scored.
    """

    scored: Path
    keys: set[str] = field(default_factory=set)
    answers: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    delivered: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))

    def violations(self, snapshot: Snapshot) -> Iterator[str]:
        if len(snapshot.audits) > len(self.keys):
            yield f"{len(snapshot.audits)} audits for {len(self.keys)} keys"
        for key, audits in self.answers.items():
            if len(audits) > 1:
                yield f"the key {key} was answered with {len(audits)} audits"
        known = {audit for audits in self.answers.values() for audit in audits}
        for audit_id in sorted(known - snapshot.audits.keys()):
            yield f"{audit_id} was answered, and is not there"
        for audit_id, bodies in self.delivered.items():
            stored = snapshot.releases.get(audit_id)
            if stored is None or bodies != {stored.body}:
                yield f"{audit_id} was delivered {len(bodies)} ways, or other than it is stored"
        yield from self._scored(snapshot)

    def _scored(self, snapshot: Snapshot) -> Iterator[str]:
        paid: dict[str, set[int]] = defaultdict(set)
        for charge in snapshot.charges.values():
            everybody = set[int]().union(*snapshot.people[charge.audience_id].values())
            bearing = everybody - snapshot.excluded(charge.audit_id, charge.audience_id)
            for each in charge.content_digests:
                paid[snapshot.titles[each]] |= bearing
        lines = self.scored.read_text().splitlines() if self.scored.exists() else []
        for line in {line: json.loads(line) for line in lines}.values():
            if line["title"] not in paid:
                yield f"people were scored for {line['title']} before any charge"
            elif unpaid := set(line["persons"]) - paid[line["title"]]:
                yield f"{len(unpaid)} people were scored for {line['title']} who do not bear it"


def _differ(what: str, found: Mapping[Any, int], expected: Mapping[Any, int]) -> Iterator[str]:
    if found != expected:
        yield f"{what} are {dict(found)}, should be {dict(expected)}"


def _balances(session: Session) -> dict[int, int]:
    return {
        block.number * BLOCK + place: int(spent)
        for block in session.exec(select(PersonBlockRow))
        for place, spent in enumerate(unpack([block.spent])[0])
        if spent
    }


def _bits(packed: bytes) -> list[bool]:
    return [bool(bit) for bit in np.unpackbits(np.frombuffer(packed, np.uint8))]
