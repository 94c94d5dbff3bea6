"""Overview for regulators: mandates, rates of spending, refusals and unusual patterns.

All figures come from mandates, charges, requests and uploads. None depends on people: matches,
scores and balances are not included.
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
Audits = Annotated[dict[AuditState, Count], Field(description="Number of audits by state.")]


class MandateOverview(Wire):
    """Limit of one mandate, and the rate at which it is spent."""

    id: Identifier
    purpose: str
    kinds: list[AuditKind]
    state: MandateState
    currency: Currency
    limit: Amount
    renewal: Renewal | None
    lifetime_limit: Amount | None
    spent: Annotated[Amount, Field(description="Spent since the mandate began.")]
    remaining: Annotated[Amount, Field(description="Available now.")]
    spent_7_days: Amount
    spent_30_days: Amount
    exhausted_on: Annotated[
        date | None,
        Field(
            description="Time when the budget that does not renew would be spent, at the rate of "
            "the last 30 days. Absent if nothing was spent in them, or if the mandate ends "
            "earlier."
        ),
    ]
    valid_from: Instant
    valid_until: Instant
    audits: Audits


class AuditorOverview(Wire):
    """One organisation: its mandates, its audits, and the number of its refused requests."""

    id: Identifier
    name: str
    researchers: Count
    mandates: list[MandateOverview]
    audits: Audits
    refusals: Count


class PlatformWindow(Wire):
    """Limit of all audits together in the window, in rho."""

    limit: Amount
    spent: Amount
    remaining: Amount
    begins: Instant
    ends: Instant


class Overview(Wire):
    """All mandates and their balances at one moment."""

    at: Instant
    platform: PlatformWindow
    auditors: list[AuditorOverview]


class Refusal(Wire):
    """Refused request for an audit. Nothing was charged for it."""

    number: Annotated[int, Field(ge=0, description="Number of its ledger entry.")]
    at: Instant
    auditor_id: Identifier | None
    researcher_id: Identifier
    code: Annotated[str, Field(description="Reason: a code of the problem types.")]
    audit_kind: AuditKind
    request: Annotated[Digest, Field(description="Digest of the whole request.")]


class RefusalCount(Wire):
    auditor_id: Identifier | None
    code: str
    count: Count


class RefusalCounts(Wire):
    """Numbers of refused requests by auditor and reason."""

    counts: list[RefusalCount]


class Figure(Wire):
    """Number that raised a flag, with the threshold that it passed, if it has one."""

    name: str
    value: Decimal
    threshold: Decimal | None = None


class Flag(Wire):
    """Pattern that is a reason to ask a question. It may have a good reason and is not an
    accusation.
    """

    pattern: Pattern
    at: Instant
    explanation: str
    figures: list[Figure]
    auditor_ids: list[Identifier]
    audience_ids: list[Identifier] = []
    mandate_id: Identifier | None = None


class Thresholds(Wire):
    """Thresholds of flags. They are public: an auditor can know them beforehand."""

    tiny_group: Annotated[int, Field(description="A group of fewer uploaded identifiers is tiny.")]
    tiny_audiences: Annotated[
        int,
        Field(description="Smallest number of audiences with a tiny group that raises the flag …"),
    ]
    tiny_days: Annotated[int, Field(description="… within this number of days.")]
    similarity: Annotated[
        Decimal,
        Field(description="Smallest share of identifiers in both uploads that raises the flag."),
    ]
    burst_times: Annotated[
        int,
        Field(
            description=(
                "Smallest cost of a day, as a multiple of the usual cost, that raises the flag …"
            )
        ),
    ]
    burst_share: Annotated[Decimal, Field(description="… and smallest share of the limit.")]
    burst_history: Annotated[
        int,
        Field(
            description="Smallest number of earlier days with charges for which their median is "
            "the usual cost. With fewer days, the usual cost is the limit divided by its "
            "days."
        ),
    ]


class Flags(Wire):
    """Flags of a period, newest first."""

    since: Instant
    until: Instant
    thresholds: Thresholds
    flags: list[Flag]
