"""Families of neighbouring worlds: the same others, and one person in all variants.

Two worlds of a family differ in that person. One in which they are absent and one in which they are
present are neighbours under add/remove; any two are neighbours under change-one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

from api.operations.sensitivity.people import Human, PeopleWorld


@dataclass(frozen=True)
class Size:
    """Size of the enumerated worlds: people, bins, rows; and the number of seeds."""

    people: int
    bins: int
    rows: int
    seeds: int
    examples: int

    @property
    def is_long(self) -> bool:
        return self.people > 2


CI = Size(people=2, bins=2, rows=1, seeds=2, examples=15)
LONG = Size(people=3, bins=3, rows=2, seeds=3, examples=500)


@dataclass(frozen=True)
class Family:
    """Family in which the person of this number is absent, or one of the variants."""

    others: Mapping[int, Human]
    number: int
    variants: Sequence[Human]
    seed: int = 0

    def worlds(self) -> Iterator[PeopleWorld]:
        """Yield the worlds, the one without the person first."""
        yield PeopleWorld(self.others, self.seed)
        for human in self.variants:
            people = {**self.others, self.number: human}
            yield PeopleWorld(dict(sorted(people.items())), self.seed)


def enumerated(
    variants: Sequence[Human], others: Iterable[Human], count: int, seeds: int
) -> Iterator[Family]:
    """Yield all families with this many others, up to renaming.

    Numbers decide ties and draws by their order alone. So the person takes every position in it,
    and the others are taken as a multiset.
    """
    positions = range(count + 1)
    for people in combinations_with_replacement(tuple(others), count):
        for number, seed in product(positions, range(seeds)):
            rest = [position for position in positions if position != number]
            yield Family(dict(zip(rest, people, strict=True)), number, variants, seed)
