"""Matching of one part of an upload: the people that it finds, and the auditor's commitment to it.

The service hashes the identifiers while the part arrives, in a time that depends on the upload
alone. It asks the platform afterwards, at a public pace (`api.audiences.background_matcher`). The
database keeps eight bytes for each identifier, found or not, the digest of the part, and its sketch
under a key of this deployment. No identifier is kept, and nothing of the rest is visible (R2).

Matching costs no budget, and a part may be sent repeatedly. So the platform is asked about an
identifier once, however often it is in the part, and each auditor has a quota.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from api.audiences.parsing import Members, tokens
from api.audiences.similarity_sketches import new_sketch
from api.kernel.errors import UnavailableError
from api.kernel.settings import Settings
from api.platforms.fault_isolation import call_isolating_failures
from api.platforms.interfaces import NOBODY, People, Persons
from api.telemetry.metrics import adapter_call
from privacy.commitment import part_digest
from privacy.sketch import Hashes

_AT_ONCE = 16_384
# A platform needs about this many times longer for a user name than for a hash of 32 bytes (ADR
# 21).
_USERNAME_WORK = 10


class Binding(NamedTuple):
    """Commitment of the auditor to a part: the digest of its tokens, and their sketch."""

    digest: bytes
    sketch: Hashes


class Matched(NamedTuple):
    """People found by the identifiers, in the same order.

    With them, the digest of their tokens, and their sketch.
    """

    kind: str
    persons: Persons
    digest: bytes
    sketch: Hashes


def match_people(people: People, members: Members, settings: Settings) -> Matched:
    """Hash the identifiers and ask the platform, which may be slow: hold no lock."""
    digest, sketch = bind(members, settings)
    return Matched(members.kind, match_isolating_failures(people, members), digest, sketch)


def bind(members: Members, settings: Settings) -> Binding:
    """Return the digest and the sketch of a part, without asking the platform."""
    sketch = new_sketch(settings)
    digest = part_digest(sketch.watch(_tokens(members)))
    return Binding(digest, sketch.smallest)


def count_matching_work(members: Members) -> int:
    """Return the work of matching a part, in units of one hashed identifier: a public number."""
    weight = _USERNAME_WORK if members.kind == "username" else 1
    return weight * len(members.identifiers)


def match_isolating_failures(people: People, members: Members) -> Persons:
    """Return the people found; an identifier for which the adapter fails finds nobody."""
    if _repeats(members):
        encoded = members.identifiers.dictionary_encode()
        once = Members(members.kind, encoded.dictionary)
        found: Persons = _match(people, once)[encoded.indices.to_numpy()]
        return found
    return _match(people, members)


def require_answering(people: People, members: Members) -> None:
    """Raise if the platform does not answer an empty request: then no part is accepted."""
    kind, column = members
    require_answer(adapter_call("match")(lambda: people.match(kind, column[:0])))


def require_answer(call: Callable[[], Persons]) -> Persons:
    """Return the platform's answer, or raise and leave the audience unchanged."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            "The platform does not answer. The audience is unchanged and still open. Try again.",
            headers={"Retry-After": "5"},
            case="platform-silent",
        ) from error


def _tokens(members: Members) -> Iterator[bytes]:
    """Yield the tokens in chunks: as Python objects, short names take fifty times their memory."""
    kind, column = members
    for start in range(0, len(column), _AT_ONCE):
        yield tokens(kind, column.slice(start, _AT_ONCE))


def _repeats(members: Members) -> bool:
    """Return whether an identifier may occur twice: for hashes, whether 8-byte prefixes repeat."""
    kind, column = members
    if kind == "username":
        return True
    words = np.sort(np.frombuffer(tokens(kind, column), "<u8")[::4])
    return bool((words[1:] == words[:-1]).any())


def _match(people: People, members: Members) -> Persons:
    kind, column = members

    def match(start: int, stop: int) -> Persons:
        with adapter_call("match"):
            return np.asarray(people.match(kind, column[start:stop]), dtype=np.int64)

    return require_answer(lambda: call_isolating_failures(match, len(column), np.int64(NOBODY)))
