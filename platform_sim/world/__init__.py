"""World: all facts of a simulation, from one seed.

The same seed, size and correlation give the same world in every process, byte for byte. Parts are
made at first use; a million people take seconds.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from platform_sim.content.catalogue import Piece, make_catalogue
from platform_sim.draws.choices import Codes
from platform_sim.learned_model.history import History, make_history
from platform_sim.learned_model.person_features import Seen, make_seen
from platform_sim.people.demographics import Demographics, make_demographics
from platform_sim.people.directory import PeopleDirectory
from platform_sim.people.identifiers import MOST_PEOPLE
from platform_sim.people.interests import Interests, make_interests
from platform_sim.people.occupations import WorkHistory, make_work
from platform_sim.people.places import Homes, make_homes
from platform_sim.people.surnames import make_surnames


@dataclass(frozen=True)
class World:
    """World of people, who are numbered from 0.

    `correlation` is the influence of gender, race and age on the features that the model sees. At
    0, people qualified for an occupation look equal to it, whatever their group.
    """

    seed: int
    people: int = 20_000
    correlation: float = 1.0

    def __post_init__(self) -> None:
        # Half of the numbers are left for strangers.
        if not 0 < self.people <= MOST_PEOPLE // 2:
            raise ValueError(f"a world must have from 1 to {MOST_PEOPLE // 2} people")
        if not 0 <= self.correlation <= 1:
            raise ValueError("correlation must be from 0 to 1")

    @cached_property
    def demographics(self) -> Demographics:
        return make_demographics(self.seed, self.people, self.correlation)

    @cached_property
    def surnames(self) -> Codes:
        return make_surnames(self.seed, self.demographics.race)

    @cached_property
    def homes(self) -> Homes:
        return make_homes(self.seed, self.demographics.race, self.correlation)

    @cached_property
    def work(self) -> WorkHistory:
        return make_work(self.seed, self.demographics, self.correlation)

    @cached_property
    def interests(self) -> Interests:
        return make_interests(self.seed, self.demographics, self.work, self.correlation)

    @cached_property
    def seen(self) -> Seen:
        return make_seen(self.interests, self.work, self.homes)

    @cached_property
    def directory(self) -> PeopleDirectory:
        return PeopleDirectory(self.seed, self.surnames)

    @cached_property
    def catalogue(self) -> tuple[Piece, ...]:
        return make_catalogue(self.seed)

    @cached_property
    def history(self) -> History:
        return make_history(self.seed, self.catalogue, self.interests, self.work, self.homes)

    def qualified(self, occupation: str) -> NDArray[np.bool_]:
        """Tell whether each person is qualified for the occupation."""
        return self.work.qualified(occupation)
