"""The platform's half of one run: whom rows are, what is read of people, and the noise on it.

Everything here happens inside the party's first ASK, and once. Reading begins with a transaction
that turns the audit from `charged` to `running`: from then on it cannot be cancelled, and nobody
but the run that is under way may read (R3).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, select

from api import boundaries
from api.adapters import PlatformDownError
from api.audiences import hidden
from api.audits import KINDS
from api.audits.kind import AudienceFacts
from api.audits.two_party import SUMS, Integers, values_of
from api.boundaries import Boundary
from api.charging import bearers
from api.contents import Shown, shown
from api.errors import BeginAgainError
from api.ledger import lock
from api.platform import NOBODY, Persons, Platform
from api.pricing import exact_price, facts_of
from api.settings import Settings
from api.store import AudienceRow, AuditRow, OrderRow, RunRow, Store
from api.two_party.candidates import candidates
from openapi.models import REQUEST, Price, TwoPartyRequest
from privacy import waist
from privacy.two_party import Candidates, EncryptedTable, NoisySums, Uploaded


@dataclass
class Half:
    """What a `PlatformParty` is given, for one audit and one run of it."""

    store: Store
    settings: Settings
    platform: Platform
    audit: AuditRow
    run: str
    request: TwoPartyRequest
    facts: AudienceFacts
    contents: Sequence[Shown]
    join: Uploaded | Candidates
    model: str | None = field(default=None)

    @classmethod
    def of(
        cls, store: Store, settings: Settings, platform: Platform, audit: AuditRow, run: str
    ) -> "Half":
        request = REQUEST.validate_json(audit.request)
        if not isinstance(request, TwoPartyRequest):
            raise TypeError(f"{audit.id} is no two-party audit")
        with store.read() as session:
            audience = session.get_one(AudienceRow, audit.audience_id)
            contents = shown(session, request.content_ids)
            facts = facts_of(session, audience)
            if facts.candidates is None:
                join: Uploaded | Candidates = Uploaded(_rows(session, audit, audience))
            else:
                join = candidates(
                    platform, audience.identifiers or "", facts.candidates, audit.id, settings
                )
        return cls(store, settings, platform, audit, run, request, facts, contents, join)

    def values(self, persons: Persons) -> Integers:
        """Values of these people, once the store says that this run may read."""
        bearing = self._begin(persons)
        boundaries.reached(Boundary.CLAIMED)
        self.model = self._model()
        fields = [content.fields for content in self.contents]
        read = values_of(self.request, fields, self.platform)(persons[bearing])
        if self._model() != self.model:
            raise PlatformDownError("the model changed while it was read")
        boundaries.reached(Boundary.REDUCED)
        found = np.zeros((len(persons), read.shape[1]), np.int64)
        found[bearing] = read
        return found

    def release(self, table: EncryptedTable) -> NoisySums:
        """Through the waist, like everything (R1)."""
        question = KINDS[self.audit.kind].question(self.request, self.facts)
        paid = exact_price(Price.model_validate_json(self.audit.price))
        noisy = waist.release(question, {SUMS: table}, paid=paid)[SUMS]
        boundaries.reached(Boundary.NOISED)
        if not isinstance(noisy, NoisySums):
            raise TypeError("encrypted sums are expected")
        return noisy

    def _begin(self, persons: Persons) -> NDArray[np.bool_]:
        """Say that reading begins; who of these people bears the audit, and may be read."""
        with self.store.write() as session:
            lock(session)
            begin_reading(session, self.audit.id, self.run)
            if isinstance(self.join, Uploaded):
                return np.ones(len(persons), np.bool_)
            audience = session.get_one(AudienceRow, self.audit.audience_id)
            able = hidden.bear(session, self.audit, audience, persons, self.settings)
        return np.isin(persons, able.everyone())

    def _model(self) -> str | None:
        return KINDS[self.audit.kind].model_digest(self.request, self.platform)


def begin_reading(session: Session, audit_id: str, run: str) -> None:
    row = under_way(session, audit_id, run)
    audit = session.exec(select(AuditRow).where(AuditRow.id == audit_id).with_for_update()).one()
    if row is None or audit.state not in ("charged", "running") or audit.stopped:
        raise BeginAgainError("another run took the place of this one, or the audit has ended")
    audit.state = "running"
    session.add(audit)


def under_way(session: Session, audit_id: str, run: str) -> RunRow | None:
    """The run of this name, locked, if it is the one that may answer and none has."""
    query = select(RunRow).where(RunRow.audit_id == audit_id, RunRow.run == run)
    row = session.exec(query.with_for_update()).first()
    return row if row is not None and row.answered_at is None else None


def _rows(session: Session, audit: AuditRow, audience: AudienceRow) -> Persons:
    """The person of each row who bears the audit; nobody where there is none."""
    order = session.get_one(OrderRow, audience.id)
    persons = np.frombuffer(order.persons, "<i8")
    able = np.isin(persons, bearers(session, audit.id, audience).everyone())
    return np.where(able, persons, NOBODY).astype(np.int64)
