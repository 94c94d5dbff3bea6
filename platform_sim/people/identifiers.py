"""User names, e-mail addresses and phone numbers of people.

All are obviously invented: domains of RFC 2606, telephone area 555. A person's identifiers follow
from the person number by one-to-one maps, so they are distinct. Numbers from `people` on belong to
strangers who are not on the platform, but whom a researcher may recruit.
"""

import hashlib
import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes
from platform_sim.draws.randomness import stream
from platform_sim.people.surnames import SURNAMES

MOST_PEOPLE = 10_000_000
_DOMAINS = ("example.org", "example.com", "example.net")
_ROWS_AT_ONCE = 100_000


def usernames(seed: int, persons: NDArray[np.int64], surnames: Codes) -> pa.Array:
    """Return user names such as `Garcia_0481907`."""
    names = pa.array([name.capitalize() for name in SURNAMES]).take(pa.array(surnames))
    return pc.binary_join_element_wise(names, _digits(seed, "username", persons), "_")


def emails(seed: int, persons: NDArray[np.int64], surnames: Codes) -> pa.Array:
    """Return e-mail addresses such as `garcia.7260118@example.org`."""
    names = pa.array(SURNAMES).take(pa.array(surnames))
    local = pc.binary_join_element_wise(names, _digits(seed, "email", persons), ".")
    domains = pa.array(_DOMAINS).take(pa.array(persons % len(_DOMAINS)))
    return pc.binary_join_element_wise(local, domains, "@")


def phones(seed: int, persons: NDArray[np.int64]) -> pa.Array:
    """Return phone numbers in E.164, such as `+15550101234`."""
    return pc.binary_join_element_wise("+1555", _digits(seed, "phone", persons), "")


def _digits(seed: int, kind: str, persons: NDArray[np.int64]) -> pa.Array:
    """Return seven digits, distinct for distinct persons, because the factor and 10 are coprime."""
    rng = stream(seed, f"digits/{kind}")
    factor = 10 * int(rng.integers(100_000, 900_000)) + 7
    shift = int(rng.integers(MOST_PEOPLE))
    numbers = pa.array((persons * factor + shift) % MOST_PEOPLE)
    return pc.utf8_lpad(numbers.cast(pa.string()), 7, "0")


def canonical_usernames(names: pa.Array) -> pa.Array:
    """Return user names in NFKC, stripped, without one leading @, case-folded."""
    special = pc.fill_null(pc.invert(pc.string_is_ascii(names)), False)
    folded = pc.utf8_lower(pc.replace_substring_regex(pc.utf8_trim_whitespace(names), "^@", ""))
    if not pc.any(special).as_py():
        return folded
    # Arrow has no case folding; few names need it.
    rest = [_canonical(name) for name in names.filter(special).to_pylist()]
    return pc.replace_with_mask(folded, special, pa.array(rest, folded.type))


def _canonical(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().removeprefix("@").casefold()


def canonical_emails(addresses: pa.Array) -> pa.Array:
    """Return e-mail addresses stripped and in lower case."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(addresses))


def sha256_each(texts: pa.Array) -> pa.Array:
    """Return SHA-256 of the UTF-8 of each, as 32 bytes."""
    digests = bytearray()
    for start in range(0, len(texts), _ROWS_AT_ONCE):
        rows = texts.slice(start, _ROWS_AT_ONCE).cast(pa.binary()).to_pylist()
        digests += b"".join([hashlib.sha256(row).digest() for row in rows])
    buffers = [None, pa.py_buffer(bytes(digests))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), len(texts), buffers)
