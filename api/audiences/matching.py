"""One part of an upload: the people that its identifiers find, and what binds the auditor to them.

The service hashes the identifiers while the part arrives, which takes as long as the upload alone
demands. It asks the platform afterwards, at a public pace (`api.audiences.matcher`). The database
keeps eight bytes for each identifier, found or not, the digest of the part, and its sketch under a
key of this deployment. No identifier is kept, and nothing of the rest is visible (R2).

Matching costs no budget, and a part may be sent again and again. So the platform is asked about an
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
# A user name takes a platform about this many times as long as a hash of 32 bytes (ADR 21).
_USERNAME_WORK = 10


class Binding(NamedTuple):
    """Commitment of the auditor to a part: the digest of its tokens, and their sketch."""

    digest: bytes
    sketch: Hashes


class Matched(NamedTuple):
    """People found by the identifiers, in their order; the digest of their tokens; their sketch."""

    kind: str
    persons: Persons
    digest: bytes
    sketch: Hashes


def match_people(people: People, members: Members, settings: Settings) -> Matched:
    """Hash the identifiers and ask the platform, which may take its time: hold no lock."""
    digest, sketch = bind(members, settings)
    return Matched(members.kind, match_isolating_failures(people, members), digest, sketch)


def bind(members: Members, settings: Settings) -> Binding:
    """Return the digest and the sketch of a part. The platform is not asked."""
    sketch = new_sketch(settings)
    digest = part_digest(sketch.watch(_tokens(members)))
    return Binding(digest, sketch.smallest)


def count_matching_work(members: Members) -> int:
    """Return the work of matching a part, in hashed identifiers: a public number."""
    weight = _USERNAME_WORK if members.kind == "username" else 1
    return weight * len(members.identifiers)


def match_isolating_failures(people: People, members: Members) -> Persons:
    """Return the people whom the identifiers find; one for which the adapter fails finds nobody."""
    if _repeats(members):
        encoded = members.identifiers.dictionary_encode()
        once = Members(members.kind, encoded.dictionary)
        found: Persons = _match(people, once)[encoded.indices.to_numpy()]
        return found
    return _match(people, members)


def require_answering(people: People, members: Members) -> None:
    """Raise if the platform does not answer about nobody: then no part is accepted."""
    kind, column = members
    require_answer(adapter_call("match")(lambda: people.match(kind, column[:0])))


def require_answer(call: Callable[[], Persons]) -> Persons:
    """Return the platform's answer, or raise and leave the audience as it was."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            "the platform does not answer; the audience is as it was and still open, try again",
            headers={"Retry-After": "5"},
            case="platform-silent",
        ) from error


def _tokens(members: Members) -> Iterator[bytes]:
    """Yield tokens in parts: as objects, short names take fifty times the memory of their bytes."""
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
        with adapter_call("match"):
            return np.asarray(people.match(kind, column[start:stop]), dtype=np.int64)

    return require_answer(lambda: call_isolating_failures(match, len(column), np.int64(NOBODY)))
