"""For every check of conformance a twin of a good adapter that gets just this wrong."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from api.platforms.interfaces import Log, Persons, Platform

_COUNTER = itertools.count()


class Live:
    """An attribute that is computed whenever it is read."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read


class Twin:
    """The same capability, some of it another."""

    def __init__(self, inner: Any, **changes: Any) -> None:
        self.inner, self.changes = inner, changes

    def __getattr__(self, name: str) -> Any:
        if name not in self.changes:
            return getattr(self.inner, name)
        change = self.changes[name]
        return change.read() if isinstance(change, Live) else change


def people(make: Callable[[Any], dict[str, Any]]) -> Callable[[Platform], Platform]:
    return lambda good: replace(good, people=Twin(good.people, **make(good.people)))


def scores(make: Callable[[Any], dict[str, Any]]) -> Callable[[Platform], Platform]:
    return lambda good: replace(good, scores=cast("Any", Twin(good.scores, **make(good.scores))))


def logs(make: Callable[[Any], dict[str, Any]]) -> Callable[[Platform], Platform]:
    return lambda good: replace(good, logs=cast("Any", Twin(good.logs, **make(good.logs))))


def policies(make: Callable[[Any], dict[str, Any]]) -> Callable[[Platform], Platform]:
    return lambda good: replace(
        good, policies=cast("Any", Twin(good.policies, **make(good.policies)))
    )


def matching(change: Callable[[Persons, pa.Array], Any]) -> Callable[[Platform], Platform]:
    """`match`, and what is made of its answer."""
    return people(lambda good: {"match": lambda kind, some: change(good.match(kind, some), some)})


def scoring(change: Callable[[Any, Persons], Any]) -> Callable[[Platform], Platform]:
    return scores(
        lambda good: {
            "score": lambda content, persons, context: change(
                good.score(content, persons % 2**40 % 6_000, context), persons
            )
        }
    )


def reading(
    change: Callable[[Any, str, Persons, Sequence[str]], Iterator[pa.RecordBatch]],
) -> Callable[[Platform], Platform]:
    return logs(
        lambda good: {"read": lambda log, persons, columns: change(good, log, persons, columns)}
    )


# --- people


def _never_twice(found: Persons, some: pa.Array) -> Persons:
    first = np.unique(np.array([str(each) for each in some.to_pylist()]), return_index=True)[1]
    return np.where(np.isin(np.arange(len(found)), first), found, -1)


def _agreeing(good: Any) -> dict[str, Any]:
    def held(kind: str) -> tuple[Persons, pa.Array]:
        persons, identifiers = good.held(kind)
        return np.roll(persons, 1), identifiers

    return {"held": held}


def _sampling(change: Callable[[Any, Mapping[str, int]], Any]) -> Callable[[Platform], Platform]:
    def make(good: Any) -> dict[str, Any]:
        def sample(attribute: str, sizes: Mapping[str, int], rng: Any) -> Any:
            return change(lambda chance: good.sample(attribute, sizes, chance), sizes)

        return {"sample": sample}

    return people(make)


def _known_studies(good: Any) -> dict[str, Any]:
    """As a platform may have it that has a table of its studies."""
    studies = {"conformance": good.confirmed("conformance")}
    return {"confirmed": lambda code: studies[code]}


def _short(draw: Any, sizes: Mapping[str, int]) -> Any:
    return {value: persons[:-1] for value, persons in draw(np.random.default_rng()).items()}


def _shared(draw: Any, sizes: Mapping[str, int]) -> Any:
    pool = np.arange(max(sizes.values()))
    return {value: pool[:size] for value, size in sizes.items()}


# --- logs


def _strangers(
    good: Any, log: str, persons: Persons, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    everybody = np.arange(6_000) if len(persons) else persons
    yield from good.read(log, everybody, columns)


def _few_rows(
    good: Any, log: str, persons: Persons, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """At most fifty rows a call."""
    for batch in good.read(log, persons, columns):
        yield batch[:50]
        return


def _forgetful(
    good: Any, log: str, persons: Persons, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    for batch in good.read(log, persons, columns):
        yield batch[next(_COUNTER) % 7 :]


def _made_up(
    good: Any, log: str, persons: Persons, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    yield from good.read(log, persons if len(persons) else np.arange(3), columns)


def _unnamed(
    good: Any, log: str, persons: Persons, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    for batch in good.read(log, persons, columns):
        yield batch.rename_columns([f"{name}_" for name in batch.schema.names])


def _narrower(good: Any) -> dict[str, Any]:
    def described() -> dict[str, Log]:
        return {
            name: replace(log, numbers=dict.fromkeys(log.numbers, (0.4, 0.5)))
            for name, log in good.logs().items()
        }

    return {"logs": described}


def _backwards(good: Any) -> dict[str, Any]:
    return {
        "logs": lambda: {
            name: replace(log, numbers=dict.fromkeys(log.numbers, (1.0, 0.0)))
            for name, log in good.logs().items()
        }
    }


def _slow(found: Any, persons: Persons) -> Any:
    time.sleep(0.06)
    return found


def _only_for_nobody(good: Any) -> dict[str, Any]:
    def score(content: Mapping[str, Any], persons: Persons, context: Any) -> Any:
        if content["kind"] == "conformance" and len(persons):
            raise KeyError(content["kind"])
        return good.score(content, persons, context)

    return {"score": score}


def _picky(good: Any) -> dict[str, Any]:
    def score(content: Mapping[str, Any], persons: Persons, context: Any) -> Any:
        if context["device"] == "computer":
            raise ValueError("device")
        return good.score(content, persons, context)

    return {"score": score}


def _refuse_nobody(good: Any) -> dict[str, Any]:
    def score(content: Mapping[str, Any], persons: Persons, context: Any) -> Any:
        if not len(persons):
            raise ValueError("nobody")
        return good.score(content, persons, context)

    return {"score": score}


TWINS: Mapping[str, Callable[[Platform], Platform]] = {
    "match-answers-numbers": matching(lambda found, _: found + 0.0),
    "match-finds-known-people": matching(lambda found, _: np.full(len(found), -1)),
    "match-is-stable": matching(lambda found, _: np.where(found < 0, -1, found + next(_COUNTER))),
    "match-keeps-the-order": matching(lambda found, _: np.sort(found)),
    "match-does-not-depend-on-the-batch": matching(
        lambda found, _: np.where(found < 0, -1, found + len(found))
    ),
    "match-answers-duplicates": matching(_never_twice),
    "match-answers-nobody": matching(lambda found, _: np.where(found < 0, 5, found)),
    "match-answers-an-empty-batch": matching(lambda found, _: found if len(found) else [-1]),
    "offers-are-figures": people(
        lambda good: {"offers": lambda: {"gender": {"woman": 50 + next(_COUNTER)}}}
    ),
    "sample-has-the-size": _sampling(_short),
    "sample-values-are-disjoint": _sampling(_shared),
    "sample-is-random": _sampling(lambda draw, _: draw(np.random.default_rng(1))),
    "confirmed-is-sorted": people(
        lambda good: {"confirmed": lambda code: good.confirmed(code)[::-1]}
    ),
    "confirmed-answers-every-code": people(_known_studies),
    "directory-agrees-with-match": lambda good: replace(
        good, directory=cast("Any", Twin(good.directory, **_agreeing(good.directory)))
    ),
    "score-answers-numbers": scoring(lambda found, _: found.astype(str)),
    "score-is-within-the-range": scoring(lambda found, p: np.where(p % 7 == 0, 1.7, found)),
    "score-range-is-one": scores(lambda good: {"score_range": (1.0, 0.0)}),
    "score-keeps-the-order": scoring(lambda found, p: found[np.argsort(p)]),
    "score-does-not-depend-on-the-batch": scoring(
        # As a normalisation over the batch does, in the last bits.
        lambda found, _: found * (1 + 1e-15 * (len(found) % 1_000))
    ),
    "score-is-the-same-again": scoring(lambda found, _: found + 1e-9 * next(_COUNTER)),
    "score-answers-duplicates": scoring(
        lambda found, p: np.where(np.bincount(p % 2**40)[p % 2**40] > 1, 0.0, found)
    ),
    "score-answers-an-empty-batch": scores(_refuse_nobody),
    "score-answers-people-who-are-gone": scoring(lambda found, _: found),
    "score-takes-odd-content": scores(_only_for_nobody),
    "score-takes-every-context": scores(_picky),
    "model-digest-is-stable": scores(
        lambda good: {"model_digest": Live(lambda: f"sha256:{next(_COUNTER):064x}")}
    ),
    "score-is-in-time": scoring(_slow),
    "logs-are-described": logs(_backwards),
    "read-has-the-columns": reading(_unnamed),
    "read-is-about-the-people-asked-for": reading(_strangers),
    "read-does-not-depend-on-the-batch": reading(_few_rows),
    "read-is-the-same-again": reading(_forgetful),
    "read-answers-an-empty-batch": reading(_made_up),
    "read-is-within-what-is-stated": logs(_narrower),
    "policies-are-described": policies(lambda good: {"policies_digest": "v17"}),
    "consenting-answers-everybody": policies(
        lambda good: {"consenting": lambda persons: good.consenting(persons).astype(int)}
    ),
    "rewards-are-within-0-and-1": policies(
        lambda good: {"rewards": lambda *asked: good.rewards(*asked) * 5}
    ),
    "rewards-are-the-same-again": policies(
        lambda good: {"rewards": lambda *asked: good.rewards(f"{next(_COUNTER)}", *asked[1:])}
    ),
}
