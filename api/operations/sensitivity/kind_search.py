"""Search of a kind that a package adds: every request that it names, on every source of people.

It tries all worlds of two people, with scores on both sides of every number in the request. Then it
draws larger worlds at random. The draw is seeded, so that a result can be repeated.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np

from api.kernel.errors import RefusalError
from api.kinds.protocol import KNOWN_AT_CHARGE, AudienceFacts, PlatformKind
from api.operations.sensitivity.audiences import SearchedAudience, forget_memberships
from api.operations.sensitivity.compare import RELATIONS, Largest, claims, compare
from api.operations.sensitivity.families import Family, enumerated
from api.operations.sensitivity.logs import LOGS, columns_of
from api.operations.sensitivity.people import Human, PeopleWorld, Row
from api.operations.sensitivity.running import CONTENTS, context_of, coupled, platform_of
from api.operations.sensitivity.trial_release import release_on_trial
from privacy import waist
from privacy.tables.bounded_table import Reach
from privacy.tables.price import Relation

_AUDIENCE_ID = "audience_" + "0" * 30
_CONTENT_ID = "content_" + "0" * 30
_MOST_SCORES = 9
_MOST_HUMANS = 40
_SEEDS = 2
# Number of people in the world of the trial release.
_FULL = 8
AUDIENCES: Mapping[str, SearchedAudience] = {
    "upload": SearchedAudience(people=2),
    "upload, 2 groups each": SearchedAudience(groups=4, groups_per_person=2, people=2),
    "confirmed": SearchedAudience("confirmed", people=2),
    # One slot in each of two groups, and one more person who can fill it or leave it.
    "sample": SearchedAudience("sample", people=3),
}


@dataclass(frozen=True)
class Searched:
    """Result of a search: the claim of one request on one source, and the largest change found."""

    request: int
    audience: str
    claimed: Mapping[tuple[str, Relation], Reach] = field(default_factory=dict)
    found: Largest = field(default_factory=Largest)
    refused: str | None = None

    @property
    def violations(self) -> list[str]:
        """Return a sentence for every table that one person moves further than the kind claims."""
        return [
            f"one person moves {table!r} by more than the claim under {relation}"
            for (table, relation), reach in self.found.norms.items()
            if not _covers(self.claimed[table, relation], reach)
        ]


def search_kind(kind: PlatformKind, *, worlds: int, seed: int) -> Iterator[Searched]:
    """Search every request of the kind on every source that it supports.

    `worlds` is the number of larger families of worlds that are drawn for each of them.
    """
    forget_memberships()
    sources = kind.half.sources & KNOWN_AT_CHARGE
    for number, asked in enumerate(kind.requests or (kind.contract.example,)):
        for name, audience in AUDIENCES.items():
            if audience.source in sources:
                yield _Search(kind, number, asked, name, audience).run(worlds, seed)


@dataclass(frozen=True)
class _Search:
    kind: PlatformKind
    number: int
    asked: Mapping[str, Any]
    name: str
    audience: SearchedAudience

    def run(self, worlds: int, seed: int) -> Searched:
        facts, request = self.audience.facts, self._request()
        try:
            self.kind.half.check(request, facts, platform_of(PeopleWorld({})))
        except RefusalError as error:
            return Searched(self.number, self.name, refused=str(error))
        plan = self.kind.half.plan(request, facts)
        self._release(request, facts, plan)
        found = Largest()
        rng = np.random.default_rng([seed, self.number])
        for family in (*self._enumerated(), *self._drawn(rng, worlds)):
            found.take(self._look(request, plan, family))
        return Searched(self.number, self.name, claims(plan), found)

    def _request(self) -> Any:
        model = self.kind.contract.request
        given = {"kind": self.kind.contract.name, **self.asked}
        ids = {"audience_id": _AUDIENCE_ID, "content_id": _CONTENT_ID}
        ids = {name: value for name, value in ids.items() if name in model.model_fields}
        given.pop("mandate_id", None)
        return model.model_validate(given | ids)

    def _release(self, request: Any, facts: AudienceFacts, plan: waist.ReleasePlan) -> None:
        """Make one release, of a world with people in every group."""
        people = {number: Human((number % self.audience.groups,)) for number in range(_FULL)}
        world = PeopleWorld(people)
        tables = self._reduced(request, plan, world)
        release_on_trial(self.kind, request, facts, tables, platform_of(world))

    def _look(self, request: Any, plan: waist.ReleasePlan, family: Family) -> Largest:
        tables = [self._tables(request, plan, world) for world in family.worlds()]
        stacks = {name: np.stack([each[name] for each in tables]) for name in plan}
        return compare(plan, stacks)

    def _tables(
        self, request: Any, plan: waist.ReleasePlan, world: PeopleWorld
    ) -> Mapping[str, Any]:
        reduced = self._reduced(request, plan, world)
        return {name: np.asarray(table.cells) for name, table in reduced.items()}

    def _reduced(
        self, request: Any, plan: waist.ReleasePlan, world: PeopleWorld
    ) -> Mapping[str, Any]:
        contents = CONTENTS[: len(request.content_ids)]
        with coupled(world.seed):
            membership = self.audience.membership(world)
            return self.kind.half.reduce(request, plan, contents, membership, context_of(world))

    def _enumerated(self) -> Iterator[Family]:
        humans = self._humans()
        others = humans[:: max(1, len(humans) // 12)]
        seeds = _SEEDS if self.audience.source == "sample" else 1
        for family in enumerated(humans, others, self.audience.people - 1, seeds):
            if self.audience.is_full(PeopleWorld(family.others)):
                yield family

    def _humans(self) -> list[Human]:
        """Return all variants of a person: in these groups, with these scores, or these rows."""
        groups, scores = memberships(self.audience), _around(_numbers(self.asked))
        if (log := self._log()) is not None:
            rows = [(), *((row,) for row in self._some_rows(log))]
            found = [Human(each, rows=some) for each in groups for some in rows]
        else:
            share = [score if score >= 0 else 0.0 for score in scores]
            found = [
                Human(each, scores=(score, 1 - score), share=part)
                for each in groups
                for score, part in zip(scores, share, strict=True)
            ]
        if self.audience.source == "confirmed":
            found += [Human(each, confirmed=False) for each in groups]
        return found[:: -(-len(found) // _MOST_HUMANS)]

    def _log(self) -> str | None:
        log = self.asked.get("log")
        return log if log in LOGS else None

    def _some_rows(self, log: str) -> list[Row]:
        rng = np.random.default_rng(0)
        return [self._row(log, rng) for _ in range(_MOST_SCORES)]

    def _row(self, log: str, rng: np.random.Generator) -> Row:
        """Draw a row of a log: numbers on both sides of those in the request, and its
        categories.
        """
        described, numbers = LOGS[log], _around(_numbers(self.asked))
        values: list[Any] = []
        for name, kind in columns_of(log).items():
            if name in described.words:
                values.append(rng.choice(described.words[name]).item())
            elif str(kind) == "int64":
                values.append(int(rng.integers(0, 4)))
            else:
                values.append(float(rng.choice(numbers)))
        return tuple(values)

    def _drawn(self, rng: np.random.Generator, count: int) -> Iterator[Family]:
        groups, scores = memberships(self.audience), _around(_numbers(self.asked))
        log = self._log()

        def human() -> Human:
            rows: tuple[Row, ...] = ()
            if log is not None:
                rows = tuple(self._row(log, rng) for _ in range(rng.integers(0, 4)))
            some = rng.choice(scores, 2)
            share = float(rng.random() * 1.5)
            where = groups[rng.integers(len(groups))]
            return Human(where, bool(rng.random() < 0.8), (some[0], some[1]), share, rows)

        for _ in range(count):
            people = [human() for _ in range(self.audience.people - 1)]
            number = int(rng.integers(len(people) + 1))
            rest = [position for position in range(len(people) + 1) if position != number]
            family = Family(
                dict(zip(rest, people, strict=True)),
                number,
                [human() for _ in range(rng.integers(1, 4))],
                int(rng.integers(0, 10)),
            )
            if self.audience.is_full(PeopleWorld(family.others)):
                yield family


def memberships(audience: SearchedAudience) -> list[tuple[int, ...]]:
    """Return the groups that a person of such an audience can be in; 9 is in no upload."""
    if audience.groups_per_person == 2:
        return [(0, 1), (2, 3), (0, 1, 2)]
    if audience.source in ("upload", "confirmed"):
        return [(0,), (1,), (0, 1)]
    return [(0,), (1,), (9,)]


def _numbers(value: Any) -> set[float]:
    """Return all numbers of a request, so that people can be on either side of each."""
    if isinstance(value, bool):
        return set()
    if isinstance(value, int | float):
        return {float(value)}
    if isinstance(value, str):
        try:
            return {float(value)}
        except ValueError:
            return set()
    inner: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, Sequence):
        inner = value
    return set().union(*map(_numbers, inner))


def _around(numbers: Iterable[float]) -> list[float]:
    """Return the numbers, values between and beyond them, and values that no score may have."""
    known = sorted({0.0, 1.0, *numbers})[: _MOST_SCORES - 2]
    between = [(low + high) / 2 for low, high in pairwise(known)]
    return [*known, *between, known[-1] + 1, -inf, nan]


def _covers(claimed: Reach, found: Reach) -> bool:
    names = ("l1", "l2_squared", "linf")
    return all(getattr(found, name) <= getattr(claimed, name) for name in names)


__all__ = ["AUDIENCES", "RELATIONS", "Searched", "search_kind"]
