"""An auditor's end of two-party audits without the SDK's loop: message by message, for tests."""

from base64 import urlsafe_b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
from sqlmodel import select

from api.app.container import Container
from api.db import AuditRow, ChargeRow, EntryRow
from api.identity.caller import Caller, load_caller
from api.two_party import exchange
from api.two_party.runs import LiveRuns
from auditor_client import Auditor
from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.kinds.two_party import metrics
from auditor_client.kinds.two_party.request import terms_of
from openapi.resources import AuditKind, TwoPartyRequest
from platform_sim import SOFTWARE_JOB, World
from privacy.two_party import AuditorParty, sealing_key_of, weights_of
from tests.system.raw import usernames
from tests.world import Deployment

KINDS: list[AuditKind] = ["two-party"]
EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)


def auditor_at(deployment: Deployment, opened_share: str = "0", **mandate: Any) -> Auditor:
    return deployment.auditor(
        kinds=mandate.pop("kinds", KINDS), epsilon="1000", opened_share=opened_share, **mandate
    )


def regulator_jwk(deployment: Deployment) -> dict[str, Any]:
    return dict(deployment.regulator._key.as_dict(private=False))


def weighted(
    auditor: Auditor, names: Sequence[str], groups: Sequence[str], *, hide: bool = False
) -> WeightedAudience:
    table = pa.table({"username": list(names), "group": list(groups)})
    make = auditor.audiences.hide if hide else auditor.audiences.upload_weighted
    return make(table, "username", "group")


def one(auditor: Auditor, world: World, *, stranger: bool, hide: bool = False) -> WeightedAudience:
    """An audience of one person, who is on the platform or not."""
    return weighted(auditor, usernames(world, 1, strangers=stranger), ["a"], hide=hide)


@dataclass
class Conversation:
    """A charged audit and the service that it is exchanged with; `die` takes the service's memory.

    The process of a service that was killed comes back on the same database, and with no party.
    """

    deployment: Deployment
    audit: AuditRow
    people: WeightedAudience
    caller: Caller
    service: Container
    said: list[bytes] = field(default_factory=list)
    last: bytes = b""

    @classmethod
    def begin(
        cls,
        deployment: Deployment,
        auditor: Auditor,
        people: WeightedAudience,
        epsilon: int = 10,
        edges: Sequence[float] = EDGES,
    ) -> "Conversation":
        content = auditor.contents.upload(**SOFTWARE_JOB)
        metric = metrics.histogram(content, edges)
        request = auditor.audits.requests.two_party(metric, people, epsilon=epsilon)
        audit_id = auditor.audits.submit(request).id
        service = replace(deployment.service, runs=LiveRuns())
        with service.store.read() as session:
            caller = load_caller(session, auditor.researcher_id)
            audit = session.get_one(AuditRow, audit_id)
        assert caller is not None
        return cls(deployment, audit, people, caller, service)

    @property
    def request(self) -> TwoPartyRequest:
        return TwoPartyRequest.model_validate_json(self.audit.request)

    def party(self, made: type[AuditorParty] = AuditorParty) -> AuditorParty:
        """Return a party with fresh keys."""
        wire = self.people.audience.wire
        shares = self.people.weights.shares
        terms = terms_of(self.audit.id, self.request, len(shares), wire.candidates)
        key = urlsafe_b64decode(regulator_jwk(self.deployment)["x"] + "==")
        weights = weights_of(shares, self.request.weight_scale)
        return made(terms, weights, regulator_key=sealing_key_of(key), tokens=self.people.tokens)

    def send(self, message: bytes) -> bytes:
        self.last = message
        reply = exchange.exchange(self.service.two_party, self.caller, self.audit.id, message)
        self.said += [message, reply]
        return reply

    def talk(self, party: AuditorParty, exchanges: int | None = None) -> bytes | None:
        """Run this number of exchanges (default: all) and return the next message."""
        message: bytes | None = party.start() if party.number == 0 else self.last
        while message is not None and exchanges != 0:
            message = party.receive(self.send(message))
            exchanges = None if exchanges is None else exchanges - 1
        return message

    def die(self) -> None:
        self.service = replace(self.service, runs=LiveRuns())

    @property
    def state(self) -> str:
        with self.service.store.read() as session:
            return session.get_one(AuditRow, self.audit.id).state

    def charges(self) -> int:
        with self.service.store.read() as session:
            query = select(ChargeRow).where(ChargeRow.audit_id == self.audit.id)
            return len(session.exec(query).all())

    def entries(self, kind: str) -> int:
        """Count the ledger's entries of this kind about the audit."""
        with self.service.store.read() as session:
            texts = session.exec(select(EntryRow.text).where(EntryRow.kind == kind)).all()
        return sum(self.audit.id in text for text in texts)


def integers(party: AuditorParty) -> np.ndarray[Any, Any]:
    return cast("np.ndarray[Any, Any]", party.sums).astype(float)
