"""Request that a charge carries verbatim since format 3, under the signed digest.

It is text, because entries have no floats and requests do. The verifier reads the fields that it
knows. It carries the other fields along and ignores them.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from privacy.errors import EvidenceError


def read_charged_request(body: Mapping[str, Any], text: str | None) -> dict[str, Any]:
    """Return the request that a charge carries, if it is the signed one."""
    if text is None:
        raise EvidenceError("it does not carry the request", case="no-request")
    written = text.encode()
    if body.get("request") != f"sha256:{sha256(written).hexdigest()}":
        raise EvidenceError(
            "the request that it carries differs from the signed one",
            case="another-request-than-signed",
        )
    try:
        request = _request.decode(written)
    except msgspec.MsgspecError as error:
        raise EvidenceError(
            f"it carries no valid request: {error}", case="malformed-request"
        ) from error
    stated = body.keys() - {"request"}
    if any(name not in request or request[name] != body[name] for name in stated):
        raise EvidenceError(
            "its statement differs from the request that it carries",
            case="another-statement-than-request",
        )
    return request


_request = msgspec.json.Decoder(dict[str, Any])
