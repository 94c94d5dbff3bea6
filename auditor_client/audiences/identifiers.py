"""Identifiers: normalised and hashed on this machine, as custom-audience products do it.

    e-mail     strip, lower-case                                    → SHA-256 of its UTF-8
    phone      E.164: "+", country code, number, no separators      → SHA-256 of its UTF-8
    user name  NFKC, strip, one leading "@" dropped, case-folded    → sent as it is

An error names the row, never the value.
"""

import re
import unicodedata
from collections.abc import Callable
from hashlib import sha256
from typing import Literal, get_args

from auditor_client.audiences.phone_numbers import e164
from auditor_client.errors import InputError
from openapi.resources import IdentifierKind

# Kinds of identifier in a column. Hashed kinds and user names are sent as they are.
ColumnKind = Literal["email", "phone", "username", "email_sha256", "phone_sha256"]
Normalise = Callable[[object], str | bytes | None]

HEX = re.compile(r"[0-9a-f]{64}")


def column_kind(column: str, chosen: str | None = None) -> ColumnKind:
    """Return the chosen kind of a column's values (default: by the column's name)."""
    name = chosen or column.strip().lower().replace("-", "").replace(" ", "_")
    aliases = {"mail": "email", "e_mail": "email", "telephone": "phone", "user_name": "username"}
    kind = aliases.get(name, name)
    for known in get_args(ColumnKind):
        if kind == known:
            return known  # type: ignore[no-any-return]
    kinds = ", ".join(get_args(ColumnKind))
    raise InputError(
        f"Column {column!r} names no kind of identifier: give id_kind= ({kinds}).",
        case="no-id-kind",
    )


def wire_kind(kind: ColumnKind) -> IdentifierKind:
    """Return the kind that is sent: e-mail addresses and phone numbers are sent only as hashes."""
    if kind == "username":
        return "username"
    return "email_sha256" if kind.startswith("email") else "phone_sha256"


def normaliser(kind: ColumnKind, country: str | None = None) -> Normalise:
    """Return the function from a column's value to the sent value; a missing value gives None."""
    if kind == "phone":
        return lambda value: _phone(value, country)
    by_kind: dict[str, Normalise] = {"email": _email, "username": _username}
    return by_kind.get(kind, _hashed)


def _email(value: object) -> bytes | None:
    text = _text(value)
    if text is None:
        return None
    address = text.lower()
    name, at, host = address.rpartition("@")
    if not (name and at and host) or len(address.split()) > 1:
        raise InputError("not an e-mail address", case="not-an-email")
    return sha256(address.encode()).digest()


def _phone(value: object, country: str | None) -> bytes | None:
    text = _text(value)
    return None if text is None else sha256(e164(text, country).encode()).digest()


def _username(value: object) -> str | None:
    text = _text(value)
    if text is None:
        return None
    name = unicodedata.normalize("NFKC", text).strip().removeprefix("@").casefold()
    if len(name.split()) != 1:
        raise InputError("not a user name")
    return name


def _hashed(value: object) -> bytes | None:
    if isinstance(value, bytes):
        if len(value) != sha256().digest_size:
            raise InputError("not a SHA-256 of 32 bytes")
        return value
    text = _text(value)
    if text is None:
        return None
    if not HEX.fullmatch(text.lower()):
        raise InputError("not a SHA-256 in 64 hexadecimal digits")
    return bytes.fromhex(text)


def _text(value: object) -> str | None:
    """Return the value as stripped text; return None for a missing value."""
    if isinstance(value, float):
        if value != value:
            return None
        raise InputError("a number with a fraction; read the column as text", case="fraction")
    text = "" if value is None else str(value).strip()
    return text or None
