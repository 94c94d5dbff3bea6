"""For regulators at a glance: who has what and spends how fast, what was refused, what is unusual.

Everything here is made of mandates, charges, requests and uploads. Nothing of it depends on people:
whom an upload reached, scores and balances are not in it.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.kind_name import AuditKind
from openapi.prices import Currency
from openapi.resources.audits import AuditState
from openapi.resources.mandates import MandateState, Renewal
from openapi.wire_model import Amount, Digest, Identifier, Instant, Wire

Pattern = Literal["tiny-audiences", "near-identical-audiences", "spending-burst"]
ExportName = Literal["overview", "charges", "refusals", "flags"]
ExportFormat = Literal["csv", "parquet"]

Count = Annotated[int, Field(ge=0)]
Audits = Annotated[dict[AuditState, Count], Field(description="How many, by state.")]


class MandateOverview(Wire):
    """What one mandate has, and how fast it is spent."""

    id: Identifier
    purpose: str
    kinds: list[AuditKind]
    state: MandateState
    currency: Currency
    limit: Amount
    renewal: Renewal | None
    lifetime_limit: Amount | None
    spent: Annotated[Amount, Field(description="Since the mandate began.")]
    remaining: Annotated[Amount, Field(description="To be spent now.")]
    spent_7_days: Amount
    spent_30_days: Amount
    exhausted_on: Annotated[
        date | None,
        Field(
            description="When nothing that does not renew would be left, at the rate of the last "
            "30 days. Absent if nothing was spent in them, or if the mandate ends before."
        ),
    ]
    valid_from: Instant
    valid_until: Instant
    audits: Audits


class AuditorOverview(Wire):
    """One organisation: its mandates, its audits, and how often it was refused."""

    id: Identifier
    name: str
    researchers: Count
    mandates: list[MandateOverview]
    audits: Audits
    refusals: Count


class PlatformWindow(Wire):
    """What all audits together may cost in the window, in rho."""

    limit: Amount
    spent: Amount
    remaining: Amount
    begins: Instant
    ends: Instant


class Overview(Wire):
    """Who has what, at one moment."""

    at: Instant
    platform: PlatformWindow
    auditors: list[AuditorOverview]


class Refusal(Wire):
    """A request for an audit that was refused. Nothing was charged for it."""

    number: Annotated[int, Field(ge=0, description="Its entry in the ledger.")]
    at: Instant
    auditor_id: Identifier | None
    researcher_id: Identifier
    code: Annotated[str, Field(description="Why: a code of the problem types.")]
    audit_kind: AuditKind
    request: Annotated[Digest, Field(description="Digest of the whole request.")]


class RefusalCount(Wire):
    auditor_id: Identifier | None
    code: str
    count: Count


class RefusalCounts(Wire):
    """How many requests were refused, by auditor and reason."""

    counts: list[RefusalCount]


class Figure(Wire):
    """A number that raised a flag, beside the threshold it passed, where it has one."""

    name: str
    value: Decimal
    threshold: Decimal | None = None


class Flag(Wire):
    """A pattern worth a question. There may be a good reason for it: it is not an accusation."""

    pattern: Pattern
    at: Instant
    explanation: str
    figures: list[Figure]
    auditor_ids: list[Identifier]
    audience_ids: list[Identifier] = []
    mandate_id: Identifier | None = None


class Thresholds(Wire):
    """When a flag is raised. These are public: an auditor can know them beforehand."""

    tiny_group: Annotated[int, Field(description="A group of fewer uploaded identifiers is tiny.")]
    tiny_audiences: Annotated[int, Field(description="So many audiences with one are many …")]
    tiny_days: Annotated[int, Field(description="… within so many days.")]
    similarity: Annotated[
        Decimal,
        Field(description="Uploads whose common identifiers are such a share of all of theirs."),
    ]
    burst_times: Annotated[
        int, Field(description="A day that costs so many times what is usual for the mandate …")
    ]
    burst_share: Annotated[Decimal, Field(description="… and such a share of its limit.")]
    burst_history: Annotated[
        int,
        Field(
            description="Usual is the median of the days with charges before, if there are so "
            "many; else the limit spread evenly over its days."
        ),
    ]


class Flags(Wire):
    """What is unusual in a stretch of time, newest first."""

    since: Instant
    until: Instant
    thresholds: Thresholds
    flags: list[Flag]
