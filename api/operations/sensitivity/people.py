"""Worlds: a few people, all that a platform holds about them, and the capabilities to read it.

A world is a platform's data. Two worlds are neighbours if they differ in one person. The upload is
the auditor's and is the same in all worlds. It has two identifiers for every person number and
group, so that somebody who is not deduplicated counts twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from api.operations.sensitivity.logs import LOGS, columns_of
from api.platforms.interfaces import NOBODY, Log, Persons

ATTRIBUTE = "group"
CODE = "code"
USERNAME = "username"
Row = tuple[Any, ...]
Identities = tuple[int, tuple[tuple[int, tuple[int, ...], bool], ...]]
_BLANK = (None, None, None)


@dataclass(frozen=True)
class Human:
    """Data that a platform holds about one person.

    A field that a kind does not read has its default.

    `groups` are the groups of the upload in which their identifiers are; the first one is also the
    value of the attribute by which samples are drawn. `sits` are positions in other people's lists:
    (viewer, query, place, number). `likes` are rewards by the number of the arm; `liked` are the
    rewards of others, by their number, from this person's recommendations.
    """

    groups: tuple[int, ...] = (0,)
    confirmed: bool = True
    scores: tuple[float, ...] = (0.5, 0.5)
    share: float = 0.0
    rows: tuple[Row, ...] = ()
    sits: tuple[tuple[int, int, int, float], ...] = ()
    likes: tuple[float, ...] = ()
    liked: tuple[float, ...] | None = None
    consents: bool = True


@dataclass(frozen=True)
class PeopleWorld:
    """People by their number. `seed` decides every draw, the same way in all neighbours."""

    people: Mapping[int, Human]
    seed: int = 0
    model_digest: str = "sha256:" + "0" * 64
    score_range: tuple[float, float] = (0.0, 1.0)
    context: Mapping[str, Sequence[str | float]] = field(
        default_factory=lambda: {"hour": ("noon", "night")}
    )

    @cached_property
    def identities(self) -> Identities:
        """Return all that decides who is in an audience: the people, their identities, and the
        draw.
        """
        people = self.people.items()
        return self.seed, tuple((who, human.groups, human.confirmed) for who, human in people)

    @cached_property
    def _holders(self) -> Mapping[str, int]:
        return {
            name: number
            for number, human in self.people.items()
            for group in human.groups
            for name in names(number, group)
        }

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        found = (self._holders.get(name, NOBODY) for name in identifiers.to_pylist())
        return np.fromiter(found, np.int64)

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        """Return everybody with their first identifier."""
        first = [(number, human.groups[0]) for number, human in self.people.items() if human.groups]
        named = [names(number, group)[0] for number, group in first]
        return np.array([number for number, _ in first], np.int64), pa.array(named, pa.string())

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        """Return more than any sample here needs: a public figure, which no person changes."""
        return {ATTRIBUTE: {str(value): 100 for value in range(10)}}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        """Return the people who come first in an order that does not depend on the other people.

        This is uniform over seeds, and couples the draws of neighbouring worlds.
        """
        return {
            value: np.array(sorted(self._declared(value), key=self._order)[:size], np.int64)
            for value, size in sizes.items()
        }

    def _declared(self, value: str) -> list[int]:
        return [who for who, human in self.people.items() if human.groups[:1] == (int(value),)]

    def _order(self, number: int) -> float:
        return _sort_key(self.seed, number)

    def confirmed(self, code: str) -> Persons:
        return np.array([who for who, human in self.people.items() if human.confirmed], np.int64)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        """Return the scores by the content's number, which is its title.

        At night they are reversed.
        """
        number = int(content["title"])
        found = [self.people[who].scores[number] for who in persons.tolist()]
        return np.array([1 - one if context["hour"] == "night" else one for one in found], float)

    def shares(self, persons: Persons) -> NDArray[np.float64]:
        return np.array([self.people[who].share for who in persons.tolist()], float)

    def logs(self) -> Mapping[str, Log]:
        return LOGS

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        rows = [(who, *row) for who in persons.tolist() for row in self._rows(log, who)]
        types = {"person": pa.int64(), **columns_of(log)}
        values = dict(zip(types, zip(*rows, strict=True), strict=True)) if rows else {}
        found = {name: pa.array(values.get(name, ()), types[name]) for name in ("person", *columns)}
        return [pa.RecordBatch.from_pydict(found)]

    def _rows(self, log: str, viewer: int) -> Iterable[Row]:
        """Return the rows of one person. In their lists, others fill positions that are blank.

        A position whose candidate is absent stays, with nobody in it and nothing known about it.
        """
        own = self.people[viewer].rows
        if log != "lists":
            return own
        by_position = {
            row[:2]: row if row[2] in self.people else (*row[:2], *_BLANK) for row in own
        }
        for who, human in self.people.items():
            for owner, query, position, number in human.sits:
                if owner == viewer and by_position.get((query, position), _BLANK)[-3:] == _BLANK:
                    by_position[query, position] = (query, position, who, number, number)
        return list(by_position.values())


def names(number: int, group: int) -> tuple[str, str]:
    """Return the identifiers of a person in one group of the upload."""
    return f"{number}.{group}", f"{number}.{group}.again"


@cache
def _sort_key(seed: int, number: int) -> float:
    return float(np.random.default_rng([seed, number]).random())
