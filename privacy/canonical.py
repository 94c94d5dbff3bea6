"""Canonical serialisation of a JSON value (RFC 8785), for most values several times faster than
rfc8785.

This module writes plain values. The package rfc8785 handles all others, and every refusal.
"""

from json.encoder import encode_basestring
from typing import Any

import rfc8785

# Integers up to this limit have one meaning in every JSON library [RFC8785, §3.2.2.3, Appendix D].
LARGEST = 2**53 - 1
_WORDS = {True: "true", False: "false", None: "null"}


class _UnusualError(Exception):
    """A value that this module leaves to rfc8785."""


def dumps(value: Any) -> bytes:
    try:
        return _text(value).encode()
    except (_UnusualError, UnicodeEncodeError, RecursionError):
        return rfc8785.dumps(value)


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int and -LARGEST <= value <= LARGEST:
        return str(value)
    if kind is float:
        return _number(value)
    if kind is list:
        return f"[{','.join([_text(each) for each in value])}]"
    if kind is dict:
        return f"{{{','.join([_member(name, value[name]) for name in _sorted(value)])}}}"
    if kind is bool or value is None:
        return _WORDS[value]
    raise _UnusualError


def _member(name: str, value: Any) -> str:
    return f"{encode_basestring(name)}:{_text(value)}"


def _sorted(members: dict[Any, Any]) -> list[str]:
    """By UTF-16 code units, which is by code points where all are ASCII  [RFC8785, §3.2.3]."""
    if not all(type(name) is str for name in members):
        raise _UnusualError
    if "".join(members).isascii():
        return sorted(members)
    return sorted(members, key=lambda name: name.encode("utf-16-be"))


def _number(value: float) -> str:
    """Return the number as ECMAScript writes it: as Python does, except for the end of whole
    numbers.
    """
    if 1e-4 <= abs(value) < 1e16:
        return repr(value).removesuffix(".0")
    return rfc8785.dumps(value).decode()
