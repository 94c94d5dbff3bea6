"""Platform's half of one run: the people of its rows, the values read about them, and the noise.

Everything here happens inside the party's first ASK, and once, in this order:

1. For a hidden audience, one transaction records the people whom the run found, debits them and
  drops those above the cap. The audit is still `charged`: nothing was read on it. A later run may
  replace the set, which refunds exactly the people of the old one; so does a cancellation.
2. One transaction turns the audit from `charged` to `running`: reading begins. From then on it
  cannot be cancelled, its set of people is final, and only the run under way may read (R3).
3. The run reads nobody but the people whom the charge debits, by its digest (R4). A later run uses
  the recorded people alone.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, select

from api.accounting.charge import load_charged_people, record_people
from api.accounting.memberships import load_charged_members
from api.accounting.people_digest import UnboundPeopleError
from api.accounting.prices import exact_price
from api.audits.pricing import load_audience_facts
from api.audits.states import change_state
from api.contents.service import StoredContent, load_contents
from api.db import AudienceRow, AuditRow, ChargeRow, OrderRow, Store
from api.kernel import failpoints
from api.kernel.errors import BeginAgainError, ConflictError
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from api.kinds.protocol import AudienceFacts
from api.kinds.registry import KINDS
from api.kinds.two_party import SUMS, Integers, values_of
from api.ledger import lock
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import NOBODY, Persons, Platform
from api.two_party.candidates import load_candidates
from api.two_party.failures import INTERNAL, fail_run, finish_failed, lock_run
from openapi.resources import REQUEST, Price, TwoPartyRequest
from privacy import waist
from privacy.two_party import CandidatePeople, EncryptedTable, NoisySums, Uploaded

log = logging.getLogger(__name__)


@dataclass
class PlatformHalf:
    """Platform half of one run of an audit, which prepares a `PlatformParty`."""

    store: Store
    settings: Settings
    platform: Platform
    audit: AuditRow
    run: str
    request: TwoPartyRequest
    facts: AudienceFacts
    contents: Sequence[StoredContent]
    join: Uploaded | CandidatePeople
    # Whether the set of people was final at the start of this run: an earlier run had begun to
    # read.
    final: bool = False
    model: str | None = field(default=None)
    # Whether noise may have been drawn, from when on a failure is final (`failures`).
    drawn: bool = field(default=False)

    @classmethod
    def of(
        cls, store: Store, settings: Settings, platform: Platform, audit: AuditRow, run: str
    ) -> "PlatformHalf":
        request = REQUEST.validate_json(audit.request)
        if not isinstance(request, TwoPartyRequest):
            raise TypeError(f"{audit.id} is not a two-party audit.")
        with store.read() as session:
            audience = session.get_one(AudienceRow, audit.audience_id)
            contents = load_contents(session, request.content_ids)
            facts = load_audience_facts(session, audience)
            final = session.get_one(AuditRow, audit.id).state == "running"
            if facts.candidates is None:
                join: Uploaded | CandidatePeople = Uploaded(_rows(session, audit, audience))
            else:
                recorded = None
                if final:
                    recorded = load_charged_members(session, audit.id, audience)[0].everyone()
                join = load_candidates(
                    platform,
                    audience.identifiers or "",
                    facts.candidates,
                    audit.id,
                    settings,
                    recorded,
                )
        return cls(store, settings, platform, audit, run, request, facts, contents, join, final)

    def values(self, persons: Persons) -> Integers:
        """Return values of these people, after the store has confirmed that this run may read."""
        if isinstance(self.join, CandidatePeople):
            self._record(persons)
            failpoints.hit(Failpoint.PEOPLE_RECORDED)
        bearing = self._begin(persons)
        failpoints.hit(Failpoint.CLAIMED)
        self.model = self._model()
        fields = [content.fields for content in self.contents]
        read = values_of(self.request, fields, self.platform)(persons[bearing])
        if self._model() != self.model:
            raise PlatformDownError("The model changed during the reduction.")
        failpoints.hit(Failpoint.REDUCED)
        found = np.zeros((len(persons), read.shape[1]), np.int64)
        found[bearing] = read
        return found

    def release(self, table: EncryptedTable) -> NoisySums:
        """Return the noisy sums, through the waist like every release (R1)."""
        plan = KINDS[self.audit.kind].plan(self.request, self.facts)
        paid = exact_price(Price.model_validate_json(self.audit.price))
        finish_failed(self.audit.id)
        self.drawn = True
        noisy = waist.release(plan, {SUMS: table}, paid=paid)[SUMS]
        failpoints.hit(Failpoint.NOISED)
        if not isinstance(noisy, NoisySums):
            raise TypeError("The waist did not return encrypted sums.")
        return noisy

    def _record(self, persons: Persons) -> None:
        """Record and debit the people whom this run found, if no run has begun to read."""
        with self.store.write() as session:
            lock(session)
            audit = lock_audit(session, self.audit.id, self.run)
            if audit.state == "charged":
                charge, audience = _charge_of(session, audit)
                record_people(session, charge, audience, persons, self.settings)
            elif not self.final:
                raise BeginAgainError("Another run has begun to read since this one began.")

    def _begin(self, persons: Persons) -> NDArray[np.bool_]:
        """Record that reading begins.

        Return a mask of the people who are debited, and may be read.
        """
        try:
            with self.store.write() as session:
                lock(session)
                audit = lock_audit(session, self.audit.id, self.run)
                change_state(audit, "running")
                session.add(audit)
                debited, _ = load_charged_people(
                    session, *_charge_of(session, audit), self.settings
                )
        except UnboundPeopleError as error:
            log.exception("charge.unbound", extra={"audit": self.audit.id})
            fail_run(self.store, self.audit.id, self.run, INTERNAL)
            raise ConflictError("The audit has failed.", state="failed") from error
        return np.isin(persons, debited.everyone())

    def _model(self) -> str | None:
        return KINDS[self.audit.kind].model_digest(self.request, self.platform)


def lock_audit(session: Session, audit_id: str, run: str) -> AuditRow:
    """Return the audit, locked, if this run of it may still read."""
    row = lock_run(session, audit_id, run)
    audit = session.exec(select(AuditRow).where(AuditRow.id == audit_id).with_for_update()).one()
    if row is None or audit.state not in ("charged", "running") or audit.stopped:
        raise BeginAgainError("Another run has replaced this one, or the audit has ended.")
    return audit


def _charge_of(session: Session, audit: AuditRow) -> tuple[ChargeRow, AudienceRow]:
    charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == audit.id)).one()
    return charge, session.get_one(AudienceRow, audit.audience_id)


def _rows(session: Session, audit: AuditRow, audience: AudienceRow) -> Persons:
    """Return the person of each row whom the audit debits; `NOBODY` for the other rows."""
    order = session.get_one(OrderRow, audience.id)
    persons = np.frombuffer(order.persons, "<i8")
    able = np.isin(persons, load_charged_members(session, audit.id, audience)[0].everyone())
    return np.where(able, persons, NOBODY).astype(np.int64)
