"""Audiences of small worlds: the people that the service's own code finds, and the public facts.

The auditor's side is the same in all worlds. Everything else follows from the world: matching,
deduplication, confirmation, the draw of a sample, the draw of candidates.
"""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pyarrow as pa
from sqlalchemy import Engine
from sqlmodel import Session, SQLModel, create_engine

from api.audiences import sampling, sealing
from api.audiences.matching import match_isolating_failures
from api.audiences.parsing import Members, tokens
from api.audits.pricing import audience_facts
from api.db import AudienceRow
from api.kernel.settings import Settings
from api.kinds.registry import AudienceFacts
from api.operations.sensitivity.people import (
    ATTRIBUTE,
    CODE,
    USERNAME,
    Identities,
    PeopleWorld,
    names,
)
from api.operations.sensitivity.running import platform_of
from api.platforms.interfaces import NOBODY, Persons
from openapi.resources import SampleDraft
from privacy.tables.membership import Membership

Source = Literal["upload", "confirmed", "sample", "hidden"]


@dataclass(frozen=True)
class SearchedAudience:
    """Audience of a search: the auditor names `people` numbers in each group.

    `size` is the number of people in each group of a sample, or of candidates. An ordered or hidden
    audience has one group, whose rows hold the identifiers of all `groups` one after the other.
    """

    source: Source = "upload"
    groups: int = 2
    groups_per_person: int = 1
    people: int = 3
    size: int = 1
    ordered: bool = False
    consented: bool = False

    @cached_property
    def facts(self) -> AudienceFacts:
        """Return its public facts, as the service itself reads them from its rows."""
        hidden, known = self.source == "hidden", self.source in ("sample", "confirmed")
        members = self.size if self.source == "sample" else len(self._names(0))
        if self._is_one_group:
            members *= self.groups
        rows = [
            SimpleNamespace(label=label, members=members, known_size=1 if known else None)
            for label in self._labels
        ]
        with Session(_database()) as session:
            return audience_facts(session, self._row(hidden), rows)

    def membership(self, world: PeopleWorld) -> Membership:
        """Return the people of each group; worlds with the same identities share one result."""
        found = _MEMBERSHIPS.get(key := (self, world.identities))
        if found is None:
            found = _MEMBERSHIPS[key] = self._membership(world)
        return found

    def _membership(self, world: PeopleWorld) -> Membership:
        if self.source == "sample":
            return self._drawn(world)
        if self._is_one_group:
            found = self.rows(world)
            return Membership.from_groups([found], 1)
        matched = [
            match_isolating_failures(world, Members(USERNAME, pa.array(self._names(group))))
            for group in range(self.groups)
        ]
        kept = sealing._confirmed(world, self._code_row, matched)
        return Membership.from_groups(kept, self.groups_per_person)

    def rows(self, world: PeopleWorld) -> Persons:
        """Return the person of each row of an ordered or hidden audience."""
        from api.two_party.candidates import load_candidates
        from privacy.two_party.joins import keep_first_rows

        named = pa.array([name for group in range(self.groups) for name in self._names(group)])
        if self.source == "hidden":
            audit = f"audit_{world.seed}"
            found = load_candidates(platform_of(world), USERNAME, self.size, audit, _settings())
            drawn = found.shuffled(self.size)
            return keep_first_rows(drawn.found(drawn.tokens, tokens(USERNAME, named)))
        matched = match_isolating_failures(world, Members(USERNAME, named))
        [kept] = sealing._confirmed(world, self._code_row, [matched])
        return keep_first_rows(np.where(np.isin(matched, kept), matched, NOBODY))

    def is_full(self, world: PeopleWorld) -> bool:
        """Return whether a sample of this size can be drawn, as the platform's offer states."""
        if self.source != "sample":
            return True
        declared = [human.groups[0] for human in world.people.values() if human.groups]
        return all(declared.count(group) >= self.size for group in range(self.groups))

    def _drawn(self, world: PeopleWorld) -> Membership:
        groups = [
            {"label": label, "value": label.removeprefix("g"), "size": self.size}
            for label in self._labels
        ]
        draft = SampleDraft.model_validate({"attribute": ATTRIBUTE, "groups": groups})
        drawn = sampling._drawn(draft, world)
        return Membership.from_groups([drawn[label] for label in self._labels], 1)

    def _names(self, group: int) -> list[str]:
        return [name for number in range(self.people) for name in names(number, group)]

    @property
    def _is_one_group(self) -> bool:
        return self.ordered or self.source == "hidden"

    @property
    def _labels(self) -> list[str]:
        return ["g0"] if self._is_one_group else [f"g{group}" for group in range(self.groups)]

    @cached_property
    def _code_row(self) -> AudienceRow:
        return self._row(hidden=False)

    def _row(self, hidden: bool) -> AudienceRow:
        return AudienceRow(
            id="audience_" + "0" * 30,
            auditor_id="auditor_" + "0" * 30,
            researcher_id="researcher_" + "0" * 30,
            state="sealed",
            source="upload" if self.source == "confirmed" else self.source,
            participation_code=CODE if self.source == "confirmed" else None,
            groups_per_person=self.groups_per_person,
            ordered=self._is_one_group,
            consented=self.consented,
            candidates=self.size if hidden else None,
            created_at=datetime.now(UTC),
            expires_at=datetime.now(UTC),
        )


_MEMBERSHIPS: dict[tuple[SearchedAudience, Identities], Membership] = {}


def forget_memberships() -> None:
    """Clear the cache: another search may run on code that has changed meanwhile."""
    _MEMBERSHIPS.clear()


@cache
def _settings() -> Settings:
    key = base64.urlsafe_b64encode(bytes(32)).decode()
    return Settings(database_url="sqlite://", issuer="http://127.0.0.1:9", key_encryption_key=key)


@cache
def _database() -> Engine:
    engine = create_engine("sqlite://")
    SQLModel.metadata.create_all(engine)
    return engine
