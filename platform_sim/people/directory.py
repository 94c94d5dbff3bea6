"""Directory of the platform's identifiers and their people.

Not everybody has given every identifier, and some people have given none.
"""

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes
from platform_sim.draws.randomness import draw_uniform
from platform_sim.people import identifiers
from platform_sim.people.digests import NOWHERE, DigestIndex

NOBODY = -1
_SILENT = 0.02
_GIVEN = {"username": 0.97, "email": 0.85, "phone": 0.6}


class PeopleDirectory:
    """Lookup of people by identifier; its indexes are built at first use."""

    def __init__(self, seed: int, surnames: Codes) -> None:
        self._seed = seed
        self._surnames = surnames
        self._everybody = np.arange(len(surnames), dtype=np.int64)
        self._indexes = dict[str, DigestIndex]()

    def holders(self, kind: str) -> NDArray[np.int64]:
        """Return the people who have given the platform an identifier of this kind."""
        silent = draw_uniform(self._seed, "silent", self._everybody) < _SILENT
        given = draw_uniform(self._seed, f"given/{kind}", self._everybody) < _GIVEN[kind]
        return self._everybody[given & ~silent]

    def match(self, kind: str, wanted: pa.Array) -> NDArray[np.int64]:
        """Return the person behind each identifier; NOBODY if there is none."""
        holders, held = self.held(kind)
        if kind == "username":
            wanted = identifiers.canonical_usernames(wanted.cast(pa.string()))
            found = pc.index_in(wanted.cast(held.type), value_set=held, skip_nulls=True)
            rows = pc.fill_null(found, NOWHERE).to_numpy()
        else:
            rows = self._index(kind).find(wanted.cast(held.type))
        persons: NDArray[np.int64] = holders.take(rows, mode="wrap")
        persons[rows == NOWHERE] = NOBODY
        return persons

    def _index(self, kind: str) -> DigestIndex:
        if kind not in self._indexes:
            self._indexes[kind] = DigestIndex(self.held(kind)[1])
        return self._indexes[kind]

    def held(self, kind: str) -> tuple[NDArray[np.int64], pa.Array]:
        """Return all people with an identifier of this kind, and their identifiers."""
        match kind:
            case "username":
                return self._usernames
            case "email_sha256":
                return self._emails
            case "phone_sha256":
                return self._phones
        raise ValueError(f"people are not matched by {kind!r}")

    @cached_property
    def _usernames(self) -> tuple[NDArray[np.int64], pa.Array]:
        holders = self.holders("username")
        names = identifiers.usernames(self._seed, holders, self._surnames[holders])
        return holders, identifiers.canonical_usernames(names)

    @cached_property
    def _emails(self) -> tuple[NDArray[np.int64], pa.Array]:
        holders = self.holders("email")
        addresses = identifiers.emails(self._seed, holders, self._surnames[holders])
        canonical = identifiers.canonical_emails(addresses)
        return holders, identifiers.sha256_each(canonical)

    @cached_property
    def _phones(self) -> tuple[NDArray[np.int64], pa.Array]:
        holders = self.holders("phone")
        return holders, identifiers.sha256_each(identifiers.phones(self._seed, holders))
