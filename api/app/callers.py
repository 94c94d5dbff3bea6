"""Callers as the gate knows them: credentials, and the researchers whom they were verified for.

A researcher is remembered with the role, so that every credential of one person counts as one
caller. This chooses admission slots, and nothing else: routes verify each request anew.
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

# Credentials whose researcher is remembered.
_REMEMBERED = 10_000
# Seconds for which a verification counts where a body is read next: a token that was revoked or
# has expired meanwhile has a body read for this long at most.
FRESH_SECONDS = 10.0


class SessionReader(Protocol):
    """Sessions of the console."""

    def secret(self, scope: Scope) -> str | None:
        """Return the secret of a session, from a cookie that this service signed."""

    def caller(self, secret: str) -> Caller | None:
        """Return who has a session; None if it has ended. It reads the database."""


@dataclass(frozen=True)
class PresentedCredential:
    """A bearer token as it was sent, or the secret of a session."""

    secret: str
    is_session: bool = False

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.is_session}:{self.secret}".encode()).hexdigest()


@dataclass(frozen=True)
class Known:
    """A researcher whose credential was verified, now or before."""

    researcher: str
    role: str
    # None for regulators and operators.
    auditor_id: str | None = None
    verified_at: float = 0.0

    @property
    def key(self) -> str:
        return f"researcher:{self.researcher}"


class KnownCallers:
    """The researchers of credentials that were verified. Used by the event loop alone."""

    def __init__(
        self, most: int = _REMEMBERED, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._clock = most, clock
        self._known: OrderedDict[str, Known] = OrderedDict()

    def find(self, credential: PresentedCredential) -> Known | None:
        return self._known.get(credential.digest)

    def is_fresh(self, known: Known) -> bool:
        """Whether the credential was verified less than `FRESH_SECONDS` ago."""
        return self._clock() - known.verified_at < FRESH_SECONDS

    def learn(self, credential: PresentedCredential, caller: Caller) -> Known:
        """Remember the researcher whom a credential was verified for."""
        known = Known(caller.researcher_id, caller.role, caller.auditor_id, self._clock())
        self._known[credential.digest] = known
        self._known.move_to_end(credential.digest)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known

    def forget(self, credential: PresentedCredential) -> None:
        self._known.pop(credential.digest, None)


def credential_of(scope: Scope, sessions: SessionReader | None) -> PresentedCredential | None:
    """Return the credential of a request: a session on pages of the console, else a token."""
    if sessions is not None and scope["path"].startswith("/console"):
        secret = sessions.secret(scope)
        return None if secret is None else PresentedCredential(secret, is_session=True)
    bearer = header(scope, b"authorization")
    return None if bearer is None else PresentedCredential(bearer.decode("latin-1"))


def network_key(scope: Scope) -> str:
    """Return the key of a stranger: the network that the request comes from."""
    client = scope.get("client")
    return key_of_network(client[0] if client else "unknown")


def key_of_network(host: str) -> str:
    """Return the key of strangers at an address."""
    return f"network:{network_of(host)}"
