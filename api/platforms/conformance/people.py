"""Checks of `People` and `Directory`: the person of an identifier, and the draw of samples."""

import secrets
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from api.kernel.checks import Checks, NotApplicableError
from api.platforms.conformance.subject import KINDS, Subject, array_of, held_by_some
from api.platforms.interfaces import NOBODY, Persons

PEOPLE = Checks[Subject]()
_LISTED = 500
_BRING = "no identifiers of real accounts: give some with --identifiers"


@PEOPLE.check("return one integer per identifier, from 0 up, and -1 for nobody")
def match_answers_numbers(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        found = np.asarray(subject.platform.people.match(kind, some))
        if found.shape != (len(some),) or found.dtype.kind not in "iu":
            return f"{len(some)} identifiers ({kind}) got {found.shape} of {found.dtype}"
        if np.any(found < NOBODY):
            return f"some person numbers are below -1 ({kind})"
    return None


@PEOPLE.check("look up each identifier of the list; these accounts should be found")
def match_finds_known_people(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        if not np.any(_match(subject, kind, some) >= 0):
            return f"nobody was found by {kind}"
    return None


@PEOPLE.check("keep one number per account for its life: never renumber people")
def match_is_stable(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        if not np.array_equal(_match(subject, kind, some), _match(subject, kind, some)):
            return f"the same identifiers ({kind}) got other numbers the second time"
    return None


@PEOPLE.check("answer in the order of the identifiers that were sent")
def match_keeps_the_order(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        forwards = _match(subject, kind, some)
        if not np.array_equal(_match(subject, kind, some[::-1])[::-1], forwards):
            return f"identifiers sent backwards ({kind}) got other numbers"
    return None


@PEOPLE.check("resolve each identifier alone, independently of the rest of the batch")
def match_does_not_depend_on_the_batch(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        some = some[:20]
        alone = [int(_match(subject, kind, some[i : i + 1])[0]) for i in range(len(some))]
        if alone != list(_match(subject, kind, some)):
            return f"identifiers sent one by one ({kind}) got other numbers than together"
    return None


@PEOPLE.check("return the same number each time an identifier is sent: the service deduplicates")
def match_answers_duplicates(subject: Subject) -> str | None:
    for kind, some in _known(subject):
        once, twice = _match(subject, kind, some), _match(subject, kind, _doubled(some))
        if not np.array_equal(np.tile(once, 2), twice):
            return f"an identifier sent twice ({kind}) did not get the same number twice"
    return None


@PEOPLE.check("return -1 if there is nobody; create no account, and refuse nothing")
def match_answers_nobody(subject: Subject) -> str | None:
    for kind in KINDS:
        strangers = [secrets.token_bytes(32) for _ in range(5)]
        names = [stranger.hex() for stranger in strangers]
        some = array_of(kind, names if kind == "username" else strangers)
        if np.any(_match(subject, kind, some) != NOBODY):
            return f"random identifiers ({kind}) were found"
    return None


@PEOPLE.check("answer an empty batch with an empty one: the service uses it as a health check")
def match_answers_an_empty_batch(subject: Subject) -> str | None:
    for kind in KINDS:
        if len(_match(subject, kind, array_of(kind, []))):
            return f"no identifiers ({kind}) got numbers"
    return None


@PEOPLE.check("offer public figures that you chose, not live counts")
def offers_are_figures(subject: Subject) -> str | None:
    first, second = (subject.platform.people.offers() for _ in range(2))
    if first != second:
        return "they differ from one moment to the next"
    figures = [figure for values in first.values() for figure in values.values()]
    if any(not isinstance(figure, int) or figure < 0 for figure in figures):
        return "a figure is not an integer from 0 up"
    return None


@PEOPLE.check("draw exactly the requested number of different people, up to your offer")
def sample_has_the_size(subject: Subject) -> str | None:
    for attribute, drawn, sizes in _drawn(subject):
        for value, size in sizes.items():
            persons = np.asarray(drawn.get(value, []))
            if len(np.unique(persons[persons >= 0])) != size or len(persons) != size:
                return f"{attribute} {value}: {size} different people were requested"
    return None


@PEOPLE.check("give a person at most one value of an attribute")
def sample_values_are_disjoint(subject: Subject) -> str | None:
    for attribute, drawn, _ in _drawn(subject):
        together = np.concatenate([*drawn.values(), np.empty(0, np.int64)])
        if len(np.unique(together)) != len(together):
            return f"{attribute}: somebody was drawn for two values"
    return None


@PEOPLE.check("draw by the given seed, uniformly, and independently for every sample")
def sample_is_random(subject: Subject) -> str | None:
    offered = subject.platform.people.offers()
    large = [(a, v, n) for a, values in offered.items() for v, n in values.items() if n >= 20]
    if not large:
        raise NotApplicableError("no samples of 20 people or more are offered")
    attribute, value, most = large[0]
    # 10 of at least 20 people: two equal draws have a probability below 1e-5, three below 1e-10.
    draws = [
        subject.platform.people.sample(attribute, {value: most // 2}, np.random.default_rng())
        for _ in range(3)
    ]
    if all(set(draw[value]) == set(draws[0][value]) for draw in draws):
        return f"{attribute} {value}: the same people were drawn every time"
    return None


@PEOPLE.check("return sorted numbers of different people, the same for the same code")
def confirmed_is_sorted(subject: Subject) -> str | None:
    first, second = (np.asarray(subject.platform.people.confirmed("conformance")) for _ in range(2))
    if not np.array_equal(first, second):
        return "the same code has other people the second time"
    if np.any(np.diff(first) <= 0) or np.any(first < 0):
        return "people are not sorted, or occur twice"
    return None


@PEOPLE.check("answer any code, and leave out people you cannot read: the call cannot be split")
def confirmed_answers_every_code(subject: Subject) -> str | None:
    for code in ("conformance", secrets.token_hex(8)):
        found = np.asarray(subject.platform.people.confirmed(code))
        if found.ndim != 1 or (len(found) and found.dtype.kind not in "iu"):
            return f"a code got {found.shape} of {found.dtype}"
    return None


@PEOPLE.check("list each identifier with the person whom `match` finds by it")
def directory_agrees_with_match(subject: Subject) -> str | None:
    for kind in KINDS:
        persons, identifiers = held_by_some(subject.platform, kind, _LISTED)
        if len(persons) != len(identifiers):
            return f"the numbers of people and identifiers differ ({kind})"
        if not np.array_equal(_match(subject, kind, identifiers[:_LISTED]), persons[:_LISTED]):
            return f"somebody who is listed ({kind}) is matched to another number"
    return None


def _known(subject: Subject) -> Iterator[tuple[str, pa.Array]]:
    if not subject.known:
        raise NotApplicableError(_BRING)
    yield from subject.known.items()


def _match(subject: Subject, kind: str, some: pa.Array) -> Persons:
    return np.asarray(subject.platform.people.match(kind, some), np.int64)


def _doubled(some: pa.Array) -> pa.Array:
    return pa.concat_arrays([some, some])


def _drawn(subject: Subject) -> Iterator[tuple[str, dict[str, Persons], dict[str, int]]]:
    offered = subject.platform.people.offers()
    if not offered:
        raise NotApplicableError("no samples are offered")
    for attribute, values in offered.items():
        sizes = {value: min(most, 500) for value, most in values.items()}
        drawn = subject.platform.people.sample(attribute, sizes, np.random.default_rng())
        yield attribute, {value: np.asarray(p, np.int64) for value, p in drawn.items()}, sizes
