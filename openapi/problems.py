"""Table of all problems of the service: RFC 9457 `type`, status and title.

The service's errors name a code of this table. The SDK maps the code to its own error and never
parses prose.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict

PREFIX = "urn:platform-auditor:problem:"

# code → (status, title)
TABLE: dict[str, tuple[int, str]] = {
    "invalid-request": (422, "The request does not have the documented form"),
    "malformed-body": (400, "The body cannot be read"),
    "unauthenticated": (401, "A valid access token is needed"),
    "unsigned": (422, "The statement is not signed by its maker"),
    "forbidden": (403, "The token lacks the scope for this"),
    "not-found": (404, "There is nothing of yours at this address"),
    "method-not-allowed": (405, "This method is not offered here"),
    "not-acceptable": (406, "None of the accepted media types is offered here"),
    "request-timeout": (408, "The request arrived too slowly"),
    "conflict": (409, "The resource is not in a state that allows this"),
    "audience-sealed": (409, "A sealed audience cannot be changed"),
    "audience-not-sealed": (409, "The audience must be sealed first"),
    "parts-lost": (409, "Parts of the upload were lost and must be sent again"),
    "quota-exceeded": (
        409,
        "Your quota is full; the request can succeed after something is erased or closed",
    ),
    "idempotency-conflict": (409, "The key was used with another body"),
    "not-cancellable": (409, "The audit has begun to read private data"),
    "not-released": (409, "The audit has no release yet"),
    "not-signed": (409, "No checkpoint of the ledger covers this yet"),
    "begin-again": (409, "This run cannot continue; a new one can begin on the same charge"),
    "message-refused": (422, "This is not the next message of the run"),
    "too-large": (413, "The body is over the limit"),
    "unsupported-media-type": (415, "This media type is not accepted here"),
    "malformed-members": (422, "The members cannot be read"),
    "digest-mismatch": (422, "The bytes received are not the bytes announced"),
    "empty-group": (422, "A group has no members"),
    "audience-too-large": (422, "The audience is over the limit"),
    "unavailable-sample": (422, "The sample exceeds the number of people that the platform offers"),
    "unsupported-audit": (422, "The platform does not offer this"),
    "unsupported-audience": (422, "This kind of audit does not take such an audience"),
    "audit-too-large": (422, "The audit would use more memory than one audit may"),
    "noise-too-large": (422, "The noise is too large for a release to hold"),
    "invalid-bins": (422, "The bins cannot be used"),
    "epsilon-above-mandate": (422, "The price is above the whole mandate"),
    "above-lifetime-cap": (422, "The price is above the lifetime cap of one person"),
    "no-mandate": (403, "No mandate in force allows this"),
    "mandate-not-yet-valid": (403, "The mandate is not valid yet"),
    "mandate-expired": (403, "The mandate is no longer valid"),
    "mandate-suspended": (403, "The mandate is suspended"),
    "budget-exhausted": (403, "The budget does not cover this"),
    "platform-exhausted": (403, "The platform's own budget is spent for now"),
    "no-consent": (422, "The people of the audience did not consent to this"),
    "exploration-exhausted": (403, "The loss of reward exceeds the mandate's exploration limit"),
    "rate-limited": (429, "Too many requests"),
    "matching-quota": (429, "The daily quota of matched identifiers is used up"),
    "queue-full": (429, "The queue of audits is full"),
    "internal": (500, "The service failed; nothing was lost"),
    "unavailable": (503, "The service is not ready"),
}


class Problem(BaseModel):
    """RFC 9457 problem details; members beyond the five standard ones depend on the type."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None

    @property
    def code(self) -> str:
        return self.type.removeprefix(PREFIX)


def problem(code: str, detail: str, instance: str | None = None, **members: Any) -> Problem:
    """Return the problem of this code; raise `KeyError` for a code outside the table."""
    status, title = TABLE[code]
    return Problem(
        type=PREFIX + code,
        title=title,
        status=status,
        detail=detail,
        instance=instance,
        **members,
    )
