"""Options: one way to ask for one kind of audit, with the worlds in which it is searched."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis.strategies import SearchStrategy

from api.kinds.registry import KINDS
from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.compare import Cells
from api.operations.sensitivity.families import Family, Size, enumerated
from api.operations.sensitivity.people import Human, PeopleWorld
from api.operations.sensitivity.running import CONTENTS, coupled
from openapi.resources import REQUEST
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, Currency, Relation
from privacy.waist import ReleasePlan
from tests.privacy_audit.sensitivity.running import context_of

AUDIENCE_ID = "audience_" + "0" * 30
CONTENT_ID = "content_" + "0" * 30
# People of a hidden audience are found while a two-party audit runs, and by no other kind.
_TWO_PARTY = "two-party"
_UNSUPPORTED = {(kind, "hidden") for kind in KINDS if kind != _TWO_PARTY}
_UNSUPPORTED |= {(_TWO_PARTY, "confirmed"), (_TWO_PARTY, "sample")}
LAPLACE: dict[str, Any] = {"mechanism": "discrete-laplace", "epsilon": "1"}
GAUSSIAN: dict[str, Any] = {"mechanism": "discrete-gaussian", "rho": "0.5"}


def shares(added: float, changed: float) -> Mapping[Relation, float]:
    """Return the share of the price that must be attained under each relation."""
    return {ADD_REMOVE: added, CHANGE_ONE: changed}


EXACT = shares(1.0, 1.0)


@dataclass(frozen=True)
class Option:
    """A request on an audience, and where to look for the largest change.

    `attains` is the share of the price, by relation, that the enumerated worlds must reach: the
    search fails if it is too weak to reach it. `refused` says that the kind must refuse to run.
    `sampled` says that the enumerated worlds are a part of all worlds of the size, chosen by hand.
    """

    kind: str
    name: str
    asked: Mapping[str, Any]
    audience: SearchedAudience
    families: Callable[[], Iterable[Family]]
    larger: SearchStrategy[Human]
    attains: Mapping[Relation, float] = field(default_factory=lambda: EXACT)
    refused: bool = False
    sampled: bool = False

    @property
    def must_be_refused(self) -> bool:
        """Whether it says so, or the kind does not support people from such a source."""
        return self.refused or (self.kind, self.audience.source) in _UNSUPPORTED

    @cached_property
    def request(self) -> Any:
        ids = {"kind": self.kind, "audience_id": AUDIENCE_ID}
        return REQUEST.validate_python({**ids, **self.asked})

    @cached_property
    def plan(self) -> ReleasePlan:
        return KINDS[self.kind].plan(self.request, self.audience.facts)

    @property
    def currency(self) -> Currency:
        return "rho" if self.asked.get("mechanism") == "discrete-gaussian" else "epsilon"

    def tables(self, world: PeopleWorld) -> Mapping[str, Cells]:
        """Reduce one world by the platform's half, after its audience was found in it."""
        contents = CONTENTS[: len(self.request.content_ids)]
        with coupled(world.seed):
            membership = self.audience.membership(world)
            reduced = KINDS[self.kind].reduce(
                self.request, self.plan, contents, membership, context_of(world)
            )
        return {name: np.asarray(table.cells) for name, table in reduced.items()}


def audiences(size: Size, *, several: bool = True) -> dict[str, SearchedAudience]:
    """Every source of people; `several` adds uploads in which a person counts in two groups."""
    people = size.people
    found = {
        "upload": SearchedAudience(people=people),
        "confirmed": SearchedAudience("confirmed", people=people),
        # One place in each of two groups, and one person more to fill or leave it.
        "sample": SearchedAudience("sample", people=people + 1),
        "hidden": SearchedAudience("hidden", people=people),
    }
    if several:
        # Of four groups, so that somebody can leave two and enter two others.
        found["upload, 2 groups each"] = SearchedAudience(
            groups=4, groups_per_person=2, people=people
        )
    return found


def tree_attains(audience: SearchedAudience) -> Mapping[Relation, float]:
    """Return what a tree attains: in a sample one person replaces another, and the root stays."""
    share = 0.5 if audience.source == "sample" else 1.0
    return shares(share, share)


def memberships(audience: SearchedAudience) -> list[tuple[int, ...]]:
    """The groups that a person of such an audience can be in; 9 is in no upload."""
    if audience.groups_per_person == 2:
        return [(0, 1), (2, 3), (0, 1, 2)]
    if audience.source in ("upload", "confirmed") and not audience.ordered:
        return [(0,), (1,), (0, 1)]
    return [(0,), (1,), (9,)]


def worlds(
    audience: SearchedAudience, variants: Sequence[Human], others: Sequence[Human], size: Size
) -> Callable[[], Iterable[Family]]:
    """The families of an audience, from what one person and what others can be."""
    if audience.source == "confirmed":
        variants = [*variants, *(_unconfirmed(human) for human in variants[:1])]

    # Where a draw decides who is in, more than one is tried.
    seeds = size.seeds if audience.source in ("sample", "hidden") else size.seeds - 1

    def families() -> Iterable[Family]:
        for family in enumerated(variants, others, audience.people - 1, seeds):
            if audience.is_full(PeopleWorld(family.others)):
                yield family

    return families


def _unconfirmed(human: Human) -> Human:
    return Human(human.groups, confirmed=False, scores=human.scores, rows=human.rows)
