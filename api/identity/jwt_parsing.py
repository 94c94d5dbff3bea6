"""Parsing of signed JWTs from untrusted senders.

The shape is checked before joserfc parses it, so that no input of a stranger ends in an unexpected
error. The algorithms are always named, so that a token never chooses its own.

[RFC7515] §7.1 compact serialisation, §4.1.11 `crit`. [RFC7797] §3 the `b64` extension. [RFC8725]
§3.1 algorithm verification.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key
from joserfc.util import urlsafe_b64decode

MAX_LENGTH = 16 * 1024

_EXTENSIONS = frozenset({"crit", "b64"})
_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")


class CompactError(Exception):
    """Text that is not a JWT, or is not signed as required."""


@dataclass(frozen=True)
class Compact:
    """Parsed JWT, which may be trusted only after `verify`."""

    text: str
    header: dict[str, Any]
    claims: dict[str, Any]

    @property
    def kid(self) -> str | None:
        kid = self.header.get("kid")
        return kid if isinstance(kid, str) else None

    @property
    def typ(self) -> str:
        """Return the type in lower case, without the optional prefix  [RFC7515, §4.1.9]."""
        return str(self.header.get("typ", "")).lower().removeprefix("application/")

    def verify(self, key: Key, algorithms: Collection[str]) -> None:
        """Raise `CompactError` unless the key verifies the signature with an allowed algorithm."""
        registry = jws.JWSRegistry(algorithms=tuple(algorithms), strict_check_header=False)
        try:
            jws.deserialize_compact(self.text, key, registry=registry)
        except (JoseError, ValueError) as error:
            raise CompactError("the signature does not verify") from error


def parse(text: str) -> Compact:
    """Return a token with header and claims, both JSON objects; the signature is not verified."""
    if len(text) > MAX_LENGTH or not _SHAPE.fullmatch(text):
        raise CompactError("not a signed JWT")
    header, claims, _ = text.split(".")
    read = Compact(text=text, header=_object(header), claims=_object(claims))
    # A recipient that does not know a critical extension must refuse the token  [RFC7515, §4.1.11].
    # `b64` would sign other bytes than those that were parsed here  [RFC7797, §3].
    if _EXTENSIONS & read.header.keys():
        raise CompactError("a signed JWT with critical extensions is not accepted")
    return read


def _object(segment: str) -> dict[str, Any]:
    try:
        value = json.loads(urlsafe_b64decode(segment.encode()))
    except (ValueError, RecursionError) as error:
        raise CompactError("not a signed JWT") from error
    if not isinstance(value, dict):
        raise CompactError("not a signed JWT")
    return value
