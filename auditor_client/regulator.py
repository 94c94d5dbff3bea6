"""The regulator's door to a service: vet auditors, grant mandates, watch every charge."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from auditor_client.connection import Connection
from auditor_client.drafts import draft
from auditor_client.errors import InputError
from auditor_client.requests import Number, exact_or_none
from auditor_client.transport import Transport
from openapi.models import (
    AuditKind,
    Auditor,
    AuditorDraft,
    Charge,
    Entry,
    Mandate,
    MandateDraft,
    Renewal,
    Researcher,
    ResearcherDraft,
    Role,
)

PATH = "/v1/regulator"
DELTA_PLACES = 12

RenewalKind = Literal["fixed", "rolling"]


class Auditors:
    """Research organisations that were vetted."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def add(self, name: str) -> Auditor:
        body = draft(AuditorDraft, name=name)
        return self._transport.post(f"{PATH}/auditors", body, Auditor)

    def list(self) -> list[Auditor]:
        return list(self._transport.items(f"{PATH}/auditors", Auditor))


class Researchers:
    """Named individuals and the public keys that only they hold."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def add(
        self,
        name: str,
        *,
        jwk: Mapping[str, Any] | None = None,
        auditor_id: str | None = None,
        role: Role = "auditor",
        outside_subject: str | None = None,
    ) -> Researcher:
        """Register a person: of an auditor, or (with another `role`) of a regulator's staff."""
        if jwk is not None and "d" in jwk:
            raise InputError("This is a private key: only its owner may have it. See `new_key`.")
        body = draft(
            ResearcherDraft,
            name=name,
            role=role,
            auditor_id=auditor_id,
            jwk=None if jwk is None else dict(jwk),
            outside_subject=outside_subject,
        )
        return self._transport.post(f"{PATH}/researchers", body, Researcher)

    def list(self) -> list[Researcher]:
        return list(self._transport.items(f"{PATH}/researchers", Researcher))


class Mandates:
    """What was granted to whom."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def grant(
        self,
        auditor_id: str,
        *,
        purpose: str,
        valid_until: datetime,
        epsilon_limit: Number | None = None,
        rho_limit: Number | None = None,
        delta: Number | None = None,
        renewal: tuple[RenewalKind, int] | None = None,
        lifetime_limit: Number | None = None,
        valid_from: datetime | None = None,
        kinds: Sequence[AuditKind] = ("score-histogram",),
    ) -> Mandate:
        """Grant a mandate, from now on unless told.

        The limit is in epsilon, or in rho where Gaussian noise is to be paid for, and bounds the
        sum of change-one prices. `delta` says at which delta a limit in rho is to be shown as an
        epsilon. With `renewal` the limit holds per so many days: in every stretch of that length
        (`("rolling", 30)`), or in each period from `valid_from` on (`("fixed", 30)`: a stretch
        across two periods may hold twice the limit). Such a mandate needs a `lifetime_limit`, which
        never comes back.
        """
        body = draft(
            MandateDraft,
            auditor_id=auditor_id,
            purpose=purpose,
            kinds=list(kinds),
            epsilon_limit=exact_or_none(epsilon_limit, "epsilon_limit"),
            rho_limit=exact_or_none(rho_limit, "rho_limit"),
            delta=exact_or_none(delta, "delta", DELTA_PLACES),
            renewal=renewal and draft(Renewal, kind=renewal[0], days=renewal[1]),
            lifetime_limit=exact_or_none(lifetime_limit, "lifetime_limit"),
            valid_from=valid_from or datetime.now(UTC),
            valid_until=valid_until,
        )
        return self._transport.post(f"{PATH}/mandates", body, Mandate)

    def list(self) -> list[Mandate]:
        return list(self._transport.items(f"{PATH}/mandates", Mandate))


class Regulator(Connection):
    """A regulator's member of staff, at one service."""

    @property
    def auditors(self) -> Auditors:
        return Auditors(self._transport)

    @property
    def researchers(self) -> Researchers:
        return Researchers(self._transport)

    @property
    def mandates(self) -> Mandates:
        return Mandates(self._transport)

    def charges(
        self, *, auditor_id: str | None = None, audience_id: str | None = None
    ) -> list[Charge]:
        """Who paid what for which audit on which audience."""
        return list(
            self._transport.items(
                f"{PATH}/charges", Charge, auditor_id=auditor_id, audience_id=audience_id
            )
        )

    def ledger(self) -> Iterator[Entry]:
        """Every entry of the append-only ledger, newest first."""
        return self._transport.items(f"{PATH}/ledger", Entry)
