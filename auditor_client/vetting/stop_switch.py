"""Switch that stops an audit which shows people other people's recommendations."""

from typing import Literal

from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import salt_text, validate
from openapi.resources import Progress, StopDraft


def stop(
    statements: Statements, role: Literal["regulator", "operator"], audit_id: str, reason: str
) -> Progress:
    """Stop an audit: from the next batch on, nobody is shown anything more, and nothing is
    released.
    """
    body = validate(StopDraft, audit_id=audit_id, reason=salt_text(reason))
    return statements.post(f"/v1/{role}/stops", "stop", body, Progress)
