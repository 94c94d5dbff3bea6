"""Public keys of an outside issuer, fetched and cached.

[RFC7517] §5 JWK set: keys that are not understood are ignored.
"""

import json
import logging
import threading
import time
from contextlib import suppress
from typing import Any

import httpx2
from joserfc.jwk import Key

from api.identity.key_policy import import_public_jwk
from api.identity.metadata import require_https
from api.kernel.errors import InvalidRequestError, UnavailableError
from api.kernel.settings import OutsideIssuer

KEPT = 300.0
SEARCH_PAUSE = 60.0
RETRY_PAUSE = 5.0
# If the issuer cannot be reached, its cached keys stay trusted for this many seconds.
STALE = 3600.0
TIMEOUT = 5.0
MAX_BYTES = 256 * 1024

_log = logging.getLogger(__name__)
_NEVER = float("-inf")


class OutsideKeys:
    """Keys by kid: fetched again when old, and at most once a minute for an unknown kid."""

    def __init__(self, issuer: OutsideIssuer) -> None:
        if (issuer.jwks_url is None) == (issuer.jwks_file is None):
            raise ValueError("outside_issuer needs either jwks_url or jwks_file")
        if issuer.jwks_url:
            require_https(issuer.jwks_url, "outside_issuer.jwks_url")
        self._issuer = issuer
        self._lock = threading.Lock()
        self._keys: dict[str, Key] = {}
        self._fetched_at = self._tried_at = self._due_at = self._search_at = _NEVER

    def find(self, kid: str | None) -> Key | None:
        """Return the key of this kid; without a kid, the only key if there is exactly one."""
        if time.monotonic() >= self._due_at:
            self._refresh()
        key = self._pick(kid)
        if key is None and self._may_search():
            self._refresh()
            key = self._pick(kid)
        if not self._keys:
            raise UnavailableError("The keys of the identity provider cannot be read. Try again.")
        return key

    def _pick(self, kid: str | None) -> Key | None:
        keys = self._keys
        if kid is None:
            return next(iter(keys.values())) if len(keys) == 1 else None
        return keys.get(kid)

    def _may_search(self) -> bool:
        with self._lock:
            if not self._keys or time.monotonic() < self._search_at:
                return False
            self._search_at = time.monotonic() + SEARCH_PAUSE
            return True

    def _refresh(self) -> None:
        asked_at = time.monotonic()
        with self._lock:
            if self._tried_at >= asked_at:
                return  # another thread has just done it
            if self._keys:  # meanwhile other threads use the cached keys
                self._due_at = asked_at + RETRY_PAUSE
            try:
                self._keys = _import(json.loads(self._read()))
            except (httpx2.HTTPError, OSError, ValueError, RecursionError) as error:
                self._failed(error)
            else:
                self._fetched_at = time.monotonic()
                self._due_at = self._fetched_at + KEPT
            self._tried_at = time.monotonic()

    def _failed(self, error: Exception) -> None:
        _log.warning("the keys of the outside issuer cannot be read: %s", type(error).__name__)
        self._due_at = time.monotonic() + RETRY_PAUSE
        if time.monotonic() - self._fetched_at > STALE:
            self._keys = {}

    def _read(self) -> bytes:
        if self._issuer.jwks_file:
            return self._issuer.jwks_file.read_bytes()
        body = bytearray()
        with (
            httpx2.Client(timeout=TIMEOUT, follow_redirects=False) as http,
            http.stream("GET", str(self._issuer.jwks_url)) as response,
        ):
            response.raise_for_status()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ValueError(f"The key set is larger than {MAX_BYTES} bytes.")
        return bytes(body)


def _import(document: Any) -> dict[str, Key]:
    listed = document.get("keys") if isinstance(document, dict) else None
    keys: dict[str, Key] = {}
    for jwk in listed if isinstance(listed, list) else ():
        with suppress(InvalidRequestError):
            key = import_public_jwk(jwk if isinstance(jwk, dict) else {})
            keys.setdefault(str(jwk.get("kid", key.thumbprint())), key)
    if not keys:
        raise ValueError("The key set has no usable key.")
    return keys
