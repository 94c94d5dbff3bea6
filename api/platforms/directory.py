"""People of a platform's directory, without unusable entries.

One person who is listed without a name must not end the run of an audit for all (R2).
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from api.platforms.interfaces import Persons

_HASH = 32


def keep_usable(kind: str, persons: Persons, identifiers: pa.Array) -> tuple[Persons, pa.Array]:
    """Return the usable entries, in the types that `match` takes."""
    identifiers = _to_match_types(kind, identifiers)
    there = (persons >= 0) & np.asarray(identifiers.is_valid())
    return persons[there], identifiers.filter(pa.array(there))


def _to_match_types(kind: str, identifiers: pa.Array) -> pa.Array:
    """Return identifiers of the right type, null for invalid ones."""
    if kind == "username":
        return identifiers.cast(pa.string())
    hashes = identifiers.cast(pa.large_binary())
    whole = pc.equal(pc.binary_length(hashes), _HASH)
    return pc.if_else(whole, hashes, None).cast(pa.binary(_HASH))
