"""Statements: requests and decisions of a named individual, signed with a key that only they hold.

The signed bytes are canonical JSON (RFC 8785); the signature is sent as a detached JWS (RFC 7515,
Appendix F). A statement has only a commitment to text about people: SHA-256 over the text and a
salt, which is kept and erased together with the text.
"""

import base64
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec
from joserfc import jws
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import Key
from joserfc.registry import HeaderParameter

from privacy.errors import StatementError
from privacy.receipts import canonical, digest

TYPE = "platform-auditor-statement+jws"
SALT_BYTES = 16
# Seconds: the largest age of a statement at its recording, and the largest error of clocks.
FRESH = 3_600
CLOCK_SKEW = 600
_COMMITMENT = b"platform-auditor/personal/v1\0"


@dataclass(frozen=True)
class Statement:
    """Request of one maker with its signature. `key` is unique among the maker's statements."""

    action: str
    by: str
    key: str
    body: Mapping[str, Any]
    signature: str

    def record(self) -> dict[str, Any]:
        """Return the statement as an entry holds it; the action is the entry's kind."""
        return {"by": self.by, "key": self.key, "body": self.body, "signature": self.signature}


def payload(platform: str, action: str, by: str, key: str, body: Mapping[str, Any]) -> bytes:
    """Return the signed bytes, which are for one platform and one purpose, once."""
    return canonical(
        {"platform": platform, "action": action, "by": by, "key": key, "body": dict(body)}
    )


def sign(
    stated: bytes,
    key: Key,
    algorithm: str = "Ed25519",
    *,
    at: float | None = None,
    after: str | None = None,
) -> str:
    """Return a detached signature of a payload, made now, or at these seconds since 1970.

    The time is signed too: a statement that was refused or never sent cannot take effect long
    after. `after` is the `link` of the statement that the maker signed just before, which this
    signature also covers.
    """
    made = int(time.time() if at is None else at)
    header = {"alg": algorithm, "iat": made, "kid": key.thumbprint(), "typ": TYPE}
    header |= {} if after is None else {"after": after}
    whole = jws.serialize_compact(header, stated, key, registry=_registry([algorithm]))
    return jws.detach_content(whole)


def verify(signature: str, stated: bytes, key: Key, algorithms: list[str]) -> None:
    """Raise an error unless this key signed exactly these bytes."""
    try:
        registry = _registry(algorithms)
        signed = jws.deserialize_compact(signature, key, registry=registry, payload=stated)
    except BadSignatureError as error:
        raise StatementError(
            "the signature does not match this statement: another key made it, or other bytes "
            "were signed",
            case="another-statement",
        ) from error
    except (JoseError, TypeError, ValueError) as error:
        raise StatementError(
            f"the signature cannot be read: {str(error).rstrip(': ')}", case="another-statement"
        ) from error
    if signed.protected.get("typ") != TYPE:
        raise StatementError("this is a signature, but not for a statement", case="not-a-statement")


class StatementHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Header of a signature; trust it only after the signature verifies."""

    alg: str
    iat: int
    kid: str
    typ: str
    after: str | None = None


def parse_header(signature: str) -> StatementHeader:
    """Return the header of `header..signature`."""
    encoded, _, rest = signature.partition(".")
    if not rest.startswith("."):
        raise StatementError(
            "the signature is not detached, so it has no header of a statement", case="not-detached"
        )
    padded = encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4)
    try:
        # Same result as `urlsafe_b64decode`, in half the time, without other characters between the
        # letters.
        return _head.decode(_base64.decode(f'"{padded}"'))
    except ValueError as error:
        raise StatementError(
            f"the signature has no header of a statement: {error}", case="no-header"
        ) from error


def signing_input(signature: str, stated: bytes) -> bytes:
    # ASCII(BASE64URL(header) || '.' || BASE64URL(payload))   [RFC7515, §5.1]
    protected = signature.partition(".")[0].encode()
    return protected + b"." + base64.urlsafe_b64encode(stated).rstrip(b"=")


def digest_statement(signature: str, stated: bytes) -> str:
    """Return the digest of a statement with its header, which the maker's next statement may name.

    It covers exactly the stated bytes; a digest of their base64url form would be equivalent but
    slower.
    """
    protected = signature.partition(".")[0].encode()
    return sha256(protected + b"." + stated).hexdigest()


def check_fresh(head: StatementHeader, at: float, fresh: int = FRESH) -> None:
    """Raise an error unless the signature was made at about this moment, or shortly before."""
    age = at - head.iat
    if not -CLOCK_SKEW <= age <= fresh:
        raise StatementError(
            f"the statement was signed {age:.0f} s before it was received (allowed: "
            f"-{CLOCK_SKEW} to {fresh} s): check the signer's clock",
            case="clocks",
        )


def commit(text: str, salt: bytes) -> str:
    """Return the commitment to a personal text: it is binding, and without the salt it reveals
    nothing.
    """
    if len(salt) < SALT_BYTES:
        raise StatementError(f"a salt must have at least {SALT_BYTES} bytes", case="short-salt")
    lengths = len(salt).to_bytes(8, "big")
    return f"sha256:{sha256(_COMMITMENT + lengths + salt + text.encode()).hexdigest()}"


def state_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement of a request, with commitments in place of personal text."""
    return {name: _stated(value) for name, value in body.items()}


def personal_texts(body: Mapping[str, Any]) -> Iterator[tuple[str, bytes, str]]:
    """Return commitment, salt and text of every personal text in a request."""
    for value in body.values():
        yield from _personal(value)


def condense_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statement of an audit request: its text fields, and a digest of the whole.

    The facts of the charge carry the whole request, as text.
    """
    kept = {
        name: value
        for name, value in request.items()
        if value is None or isinstance(value, str) or name in ("contents", "steps", "targets")
    }
    return {**kept, "request": digest(canonical(request))}


_head = msgspec.json.Decoder(StatementHeader)
_base64 = msgspec.json.Decoder(bytes)


def _registry(algorithms: list[str]) -> jws.JWSRegistry:
    members = {
        "iat": HeaderParameter("when it was made", "int"),
        "after": HeaderParameter("the statement before", "str"),
    }
    return jws.JWSRegistry(members, algorithms)


def _is_personal(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"text", "salt"}


def _stated(value: Any) -> Any:
    if _is_personal(value):
        return {"commitment": commit(value["text"], _salt(value["salt"]))}
    if isinstance(value, dict):
        return state_request(value)
    return [_stated(each) for each in value] if isinstance(value, list) else value


def _personal(value: Any) -> Iterator[tuple[str, bytes, str]]:
    if _is_personal(value):
        salt = _salt(value["salt"])
        yield commit(value["text"], salt), salt, value["text"]
    elif isinstance(value, dict):
        yield from personal_texts(value)
    elif isinstance(value, list):
        for each in value:
            yield from _personal(each)


def _salt(text: str) -> bytes:
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except ValueError as error:
        raise StatementError("a salt is base64url", case="malformed-salt") from error
