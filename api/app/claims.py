"""Unverified claims about a caller: they choose an admission slot, and nothing else.

A forged token takes a slot of the class that it names until it is refused, milliseconds later.
"""

import base64
import binascii
import hashlib
import json
from collections import OrderedDict

from starlette.types import Scope

from api.web.headers import header
from api.web.networks import network_of

# Tokens whose verified researcher is remembered, so that several tokens count as one caller.
_REMEMBERED_TOKENS = 10_000


def caller_key(scope: Scope) -> str:
    """Return the key that a request is counted under: its token, or the network it comes from."""
    bearer = header(scope, b"authorization")
    if bearer is None:
        client = scope.get("client")
        return f"network:{network_of(client[0] if client else 'unknown')}"
    return f"token:{hashlib.sha256(bearer).hexdigest()}"


def claimed_role(scope: Scope) -> str | None:
    """Return the scope that a token claims, without verifying it."""
    parts = (header(scope, b"authorization") or b"").split(b".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return None
    role = claims.get("scope") if isinstance(claims, dict) else None
    return role if isinstance(role, str) else None


class KnownCallers:
    """The researchers of tokens that were verified. Used by the event loop alone."""

    def __init__(self) -> None:
        self._researchers: OrderedDict[str, str] = OrderedDict()

    def key(self, scope: Scope) -> str:
        """Return the key of a request: its researcher, where the token was verified before."""
        key = caller_key(scope)
        return self._researchers.get(key, key)

    def learn(self, scope: Scope) -> None:
        """Remember the researcher whom a served request was authenticated as."""
        researcher = scope["state"].get("researcher")
        key = caller_key(scope)
        if researcher is None or not key.startswith("token:"):
            return
        self._researchers[key] = f"researcher:{researcher}"
        self._researchers.move_to_end(key)
        if len(self._researchers) > _REMEMBERED_TOKENS:
            self._researchers.popitem(last=False)
