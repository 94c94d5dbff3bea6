"""Callers as the gate knows them: credentials, and the researchers for whom they were verified.

The gate caches the researcher with the role, so that all credentials of one person count as one
caller. This determines admission slots, and nothing else: routes verify each request again.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.types import Scope

from api.identity.caller import Caller
from api.web.request_head import header, network_of

# Number of credentials whose researcher is cached.
_REMEMBERED = 10_000
# Seconds for which a verification is valid when the next body is read. So a token that was revoked
# or has expired meanwhile has its bodies read for at most this long.
FRESH_SECONDS = 10.0


class SessionReader(Protocol):
    """Reader of the console's sessions."""

    def secret(self, scope: Scope) -> str | None:
        """Return the secret of a session, from a cookie that this service signed."""

    def caller(self, secret: str) -> Caller | None:
        """Return the caller of a session; None if it has ended. It reads the database."""


@dataclass(frozen=True)
class PresentedCredential:
    """Bearer token as it was sent, or the secret of a session."""

    secret: str
    is_session: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.is_session}:{self.secret}".encode()).hexdigest()


@dataclass(frozen=True)
class Known:
    """Researcher whose credential was verified, now or earlier."""

    researcher: str
    role: str
    # None for regulators and operators.
    auditor_id: str | None = None
    verified_at: float = 0.0

    @property
    def key(self) -> str:
        return f"researcher:{self.researcher}"


class KnownCallers:
    """Cache of the researchers of verified credentials. Only the event loop uses it."""

    def __init__(
        self, most: int = _REMEMBERED, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._clock = most, clock
        self._known: OrderedDict[str, Known] = OrderedDict()

    def find(self, credential: PresentedCredential) -> Known | None:
        return self._known.get(credential.digest)

    def is_fresh(self, known: Known) -> bool:
        """Return whether the credential was verified less than `FRESH_SECONDS` ago."""
        return self._clock() - known.verified_at < FRESH_SECONDS

    def learn(self, credential: PresentedCredential, caller: Caller) -> Known:
        """Cache the researcher for whom a credential was verified."""
        known = Known(caller.researcher_id, caller.role, caller.auditor_id, self._clock())
        self._known[credential.digest] = known
        self._known.move_to_end(credential.digest)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known

    def forget(self, credential: PresentedCredential) -> None:
        self._known.pop(credential.digest, None)


def credential_of(scope: Scope, sessions: SessionReader | None) -> PresentedCredential | None:
    """Return the credential of a request: a session on pages of the console, otherwise a token."""
    if sessions is not None and scope["path"].startswith("/console"):
        secret = sessions.secret(scope)
        return None if secret is None else PresentedCredential(secret, is_session=True)
    bearer = header(scope, b"authorization")
    return None if bearer is None else PresentedCredential(bearer.decode("latin-1"))


def network_key(scope: Scope) -> str:
    """Return the key of an unknown caller: the network that the request comes from."""
    client = scope.get("client")
    return key_of_network(client[0] if client else "unknown")


def key_of_network(host: str) -> str:
    """Return the key of unknown callers at an address."""
    return f"network:{network_of(host)}"
