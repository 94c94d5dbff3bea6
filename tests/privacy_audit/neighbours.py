"""Worst-case neighbours: two platforms that differ in one person, and one upload for both.

There is a replica of the person in every few groups, each with noise of its own, so that one
release is many independent runs. The person is uploaded under two identifiers and, where they are
added or removed, into one group more than they may count in.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from api.audiences.matching import match_isolating_failures
from api.audiences.parsing import Members
from api.kinds.context import AuditContext, in_process_context
from api.platforms.interfaces import NOBODY, Log, Persons, Platform, Traffic
from privacy.tables.membership import Membership
from privacy.tables.price import ADD_REMOVE, Relation

Part = tuple[str, pa.Array]
_PERSON = 99


@dataclass(frozen=True)
class SmallPlatform:
    """A platform with identifiers by person, and scores by content and person (default: 0.5).

    The service's own balances are here too: which share of the cap a person has borne (none unless
    told).
    """

    holders: Mapping[str, int]
    likes: Mapping[str, Mapping[int, float]]
    borne: Mapping[int, float] = field(default_factory=dict)
    model_digest: str = "sha256:" + "0" * 64
    score_range: tuple[float, float] = (0.0, 1.0)

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return {}

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        names = (f"{kind}:{name}" for name in identifiers.to_pylist())
        return np.array([self.holders.get(name, NOBODY) for name in names], np.int64)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        raise NotImplementedError

    def confirmed(self, code: str) -> Persons:
        raise NotImplementedError

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        likes = self.likes.get(content["title"], {})
        return np.array([likes.get(int(person), 0.5) for person in persons])

    def logs(self) -> Mapping[str, Log]:
        unit = (0.0, 1.0)
        words = {"strategy": ("default", "random"), "creator": ("young", "old")}
        traffic = Traffic("strategy", "random", ("outcome",), ("creator",))
        return {
            "jobs": Log("candidate", {"score": unit, "outcome": unit, "query": unit}),
            "feed": Log("viewer", {"outcome": unit}, words, traffic=traffic),
        }

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Three rows each, more than may count, that are at the end of every range."""
        person, words = np.repeat(persons, 3), self.logs()[log].words
        rows = {
            name: pa.array([words[name][0]] * len(person))
            if name in words
            else np.full(len(person), float(name == "outcome"))
            for name in columns
        }
        return [pa.RecordBatch.from_pydict({"person": person, **rows})]

    def shares(self, persons: Persons) -> NDArray[np.float64]:
        return np.array([self.borne.get(int(person), 0.0) for person in persons])


@dataclass(frozen=True)
class World:
    """One of two neighbours, with what was uploaded."""

    people: SmallPlatform
    upload: list[list[Part]]

    @property
    def platform(self) -> Platform:
        return Platform("small", self.people, scores=self.people, logs=self.people)

    @property
    def context(self) -> AuditContext:
        return in_process_context(self.platform, balances=self.people)

    def membership(self, groups_per_person: int) -> Membership:
        """Matched part by part, and limited as in sealing."""
        groups = [
            [match_isolating_failures(self.people, Members(*part)) for part in parts]
            for parts in self.upload
        ]
        matched = [np.concatenate(found) for found in groups]
        return Membership.from_groups(matched, groups_per_person)

    def fixed(self) -> AbstractContextManager[None]:
        """The random part of a reduction, equal in both neighbours; empty here."""
        return nullcontext()


@dataclass(frozen=True)
class Neighbours:
    """The person is there in one; in the other they are gone, or called something else."""

    one: World
    other: World
    replicas: int


def in_groups(relation: Relation, k: int, replicas: int) -> Neighbours:
    """Neighbours who move k cells or, changed, 2k: out of k groups and into k others."""
    gone = relation == ADD_REMOVE
    upload: list[list[Part]] = []
    for replica in range(replicas):
        old, new = (_names(word, replica) for word in ("old", "new"))
        upload += [old] * (k + 1) if gone else [old] * k + [new] * k
    before, after = (
        {name: number for who in range(replicas) for name, number in _known_as(word, who).items()}
        for word in ("old", "new")
    )
    return Neighbours(
        World(SmallPlatform(before, {}), upload),
        World(SmallPlatform({} if gone else after, {}), upload),
        replicas,
    )


def in_balances(relation: Relation, k: int, replicas: int) -> Neighbours:
    """Neighbours who move k cells or, changed, 2k: what they have borne is in another bin."""
    if relation == ADD_REMOVE:
        return in_groups(relation, k, replicas)
    upload = [_names("old", replica) for replica in range(replicas) for _ in range(k)]
    known = {name: n for who in range(replicas) for name, n in _known_as("old", who).items()}
    return Neighbours(
        World(SmallPlatform(known, {}), upload),
        World(SmallPlatform(known, {}, dict.fromkeys(range(replicas), 0.9)), upload),
        replicas,
    )


def in_contents(relation: Relation) -> Neighbours:
    """Neighbours of two groups between whom one content's skew goes up and the other's down.

    In `one` both skews are the same: the person is absent, or of the second group. In `other` they
    are of the first group, where they add to the skew of `up` and take from that of `down`.
    """
    gone = relation == ADD_REMOVE
    first, second = range(6), range(6, 12)
    a, b, c, d = 0.5, 1.5, 2.5, 3.5
    # How many of the second group outnumber the first in bin a: six, or five with the person.
    heavy = [a] * (6 if gone else 4) + [d] * (0 if gone else 2)
    likes = {
        "up": dict(zip([*first, *second], [a] * 6 + [b] * 3 + [c] * 3, strict=True)),
        "down": dict(zip([*first, *second], [b, b, c, c, d, d, *heavy], strict=True)),
    }
    names = [pa.array([f"bystander{number}" for number in group]) for group in (first, second)]
    upload = [
        [("username", names[0]), *_names("new", _PERSON)],
        [("username", names[1]), *_names("old", _PERSON), *_names("new", _PERSON)],
    ]
    bystanders = {f"username:bystander{number}": number for number in range(12)}
    before = bystanders if gone else bystanders | _known_as("old", _PERSON)
    after = bystanders | _known_as("new", _PERSON)
    return Neighbours(
        World(SmallPlatform(before, likes), upload),
        World(SmallPlatform(after, likes), upload),
        replicas=1,
    )


def _names(word: str, person: int) -> list[Part]:
    name = pa.array([f"{word}{person}"])
    return [("username", name), ("email_sha256", name)]


def _known_as(word: str, person: int) -> dict[str, int]:
    return {f"{kind}:{word}{person}": person for kind in ("username", "email_sha256")}
