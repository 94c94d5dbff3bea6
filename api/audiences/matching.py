"""A part as it arrives: whom its identifiers find, and what binds the auditor to them.

The identifiers go no further. They are matched and hashed in memory; what is written down is eight
bytes for each, whoever it found or nobody, the part's digest, and a sketch of it under a key of
this deployment. Nothing of it is visible: the answer is the same whether everybody matched or
nobody (R2). Nothing is paid for it, and a part may be sent again and again: so the platform is
asked about an identifier once, however often it is in the part.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from api.adapters import call_or_cut
from api.audiences.members import Members, tokens
from api.errors import UnavailableError
from api.insight.sketches import new_sketch
from api.platform import NOBODY, People, Persons
from api.settings import Settings
from privacy.commitment import part_digest
from privacy.sketch import Hashes

_AT_ONCE = 16_384


class Matched(NamedTuple):
    """Whom each identifier found, in their order; the digest of their tokens; their sketch."""

    kind: str
    persons: Persons
    digest: bytes
    sketch: Hashes


def matched(people: People, members: Members, settings: Settings) -> Matched:
    """Ask the platform, which may take its time: nothing must be locked."""
    sketch = new_sketch(settings)
    digest = part_digest(sketch.watch(_tokens(members)))
    return Matched(members.kind, match_or_cut(people, members), digest, sketch.smallest)


def match_or_cut(people: People, members: Members) -> Persons:
    """Whom the identifiers find; one for which the adapter fails finds nobody."""
    if _repeats(members):
        encoded = members.identifiers.dictionary_encode()
        once = Members(members.kind, encoded.dictionary)
        found: Persons = _match(people, once)[encoded.indices.to_numpy()]
        return found
    return _match(people, members)


def answered(call: Callable[[], Persons]) -> Persons:
    """What the platform answers, whoever it is about; else the audience stays as it was."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            "the platform does not answer; the audience is as it was and still open, try again",
            headers={"Retry-After": "5"},
        ) from error


def _tokens(members: Members) -> Iterator[bytes]:
    """Some at a time: as objects, short names take fifty times the memory they were sent in."""
    kind, column = members
    for start in range(0, len(column), _AT_ONCE):
        yield tokens(kind, column.slice(start, _AT_ONCE))


def _repeats(members: Members) -> bool:
    """Whether an identifier may be there twice: of hashes, whether their first words are."""
    kind, column = members
    if kind == "username":
        return True
    words = np.sort(np.frombuffer(tokens(kind, column), "<u8")[::4])
    return bool((words[1:] == words[:-1]).any())


def _match(people: People, members: Members) -> Persons:
    kind, column = members

    def match(start: int, stop: int) -> Persons:
        return np.asarray(people.match(kind, column[start:stop]), dtype=np.int64)

    return answered(lambda: call_or_cut(match, len(column), np.int64(NOBODY)))
