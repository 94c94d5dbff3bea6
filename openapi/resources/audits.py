"""Audits: their states from charge to release."""

from typing import Literal

from openapi.kinds.kind_name import AuditKind
from openapi.kinds.unions import RecordedRequest
from openapi.prices import Price
from openapi.wire_model import Identifier, Instant, Wire

AuditState = Literal["charged", "running", "released", "failed", "cancelled"]


class Audit(Wire):
    id: Identifier
    kind: AuditKind
    state: AuditState
    mandate_id: Identifier
    request: RecordedRequest
    price: Price
    submitted_at: Instant
    finished_at: Instant | None = None
    failure: str | None = None


class Progress(Wire):
    """One change of an audit's state. No other progress is shown, because it is private (R2)."""

    audit_id: Identifier
    state: AuditState
