"""Signed cookies of the console, and the token that every form carries.

The signing key is derived from the operator's key, so that all processes of a deployment agree.
"""

import hmac
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from api.identity.key_encryption import decode
from api.kernel.settings import Settings

_PURPOSE = b"platform-auditor/console/cookies/v1"

# `session`: the secret of the signed-in person. `visit`: any other visitor, so that forms have a
# token. `outside`: a sign-in attempt at the identity provider.
Name = Literal["session", "visit", "outside"]


@dataclass(frozen=True)
class Cookies:
    """Cookies for one deployment: bound to its host with TLS, to the console's paths without."""

    key: bytes
    path: str
    secure: bool

    @classmethod
    def from_settings(cls, settings: Settings) -> "Cookies":
        address = urlsplit(settings.issuer)
        key = hmac.digest(decode(settings.key_encryption_key), _PURPOSE, "sha256")
        secure = address.scheme == "https"
        return cls(key, "/" if secure else f"{address.path.rstrip('/')}/console", secure)

    def read(self, request: Request, name: Name) -> str | None:
        """Return the value of a cookie that we signed."""
        value, _, mac = request.cookies.get(self._full(name), "").rpartition(".")
        ours = self._mac(name, value)
        return value if value and hmac.compare_digest(mac.encode(), ours.encode()) else None

    def write(self, response: Response, name: Name, value: str, seconds: int) -> None:
        response.set_cookie(
            self._full(name),
            f"{value}.{self._mac(name, value)}",
            max_age=seconds,
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response, name: Name) -> None:
        response.delete_cookie(
            self._full(name), path=self.path, secure=self.secure, httponly=True, samesite="lax"
        )

    def token(self, seed: str) -> str:
        """Return the token that a form of this session, or visit, must carry."""
        return self._mac("form", seed)

    def _full(self, name: Name) -> str:
        """Return the name under which browsers keep a cookie.

        A browser accepts the prefix `__Host-` over TLS only, from this host only and for all paths
        only. So no other host of the domain can set or replace the cookie.
        """
        return f"{'__Host-' if self.secure else ''}console_{name}"

    def _mac(self, purpose: str, value: str) -> str:
        mac = hmac.digest(self.key, f"{purpose}\0{value}".encode(), "sha256")
        return urlsafe_b64encode(mac).rstrip(b"=").decode()


def new_visit() -> str:
    return secrets.token_urlsafe(16)
