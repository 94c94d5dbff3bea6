"""Webhooks: ledger entries pushed to a URL of yours, and the check of their signatures.

[SW] Standard Webhooks 1.0.0, Ed25519 (`v1a`).
"""

import base64
import time
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from auditor_client.errors import TrustError
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import Page, Webhook, WebhookDraft

PATH = "/v1/webhooks"
TOLERANCE_SECONDS = 300


class Webhooks:
    """Endpoints to which the service pushes entries that you may see."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def add(self, url: str, *, after: int | None = None) -> Webhook:
        """Push the entries after number `after` to this URL (default: those from now on)."""
        body = validate(WebhookDraft, url=url, after=after)
        return self._transport.post(PATH, body, Webhook)

    def list(self) -> list[Webhook]:
        return self._transport.get(PATH, Page[Webhook]).items

    def delete(self, webhook_id: str) -> None:
        self._transport.send("DELETE", f"{PATH}/{webhook_id}")


def verify_webhook(
    body: bytes, headers: Mapping[str, str], public_key: str, *, at: float | None = None
) -> None:
    """Raise an error unless the platform sent this recently. `public_key` is the webhook's
    `whpk_…`.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        message, stamp = named["webhook-id"], named["webhook-timestamp"]
        signatures = named["webhook-signature"].split()
        old = abs((time.time() if at is None else at) - int(stamp)) > TOLERANCE_SECONDS
        raw = base64.b64decode(public_key.removeprefix("whpk_"))
        key = Ed25519PublicKey.from_public_bytes(raw)
    except (KeyError, ValueError) as error:
        raise TrustError("This is not a signed webhook.") from error
    if old:
        raise TrustError(
            "The webhook's time is too old or in the future, so it may be a replay. Do "
            "not act on it.",
            case="too-old",
        )
    signed = f"{message}.{stamp}.".encode() + body
    if not any(_is_by(key, signed, each) for each in signatures):
        raise TrustError("The platform did not sign this webhook.", case="wrong-signature")


def _is_by(key: Ed25519PublicKey, signed: bytes, signature: str) -> bool:
    version, _, encoded = signature.partition(",")
    try:
        key.verify(base64.b64decode(encoded), signed)
    except (InvalidSignature, ValueError):
        return False
    return version == "v1a"
