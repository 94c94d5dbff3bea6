"""Recruitment list of a researcher: volunteers with their identifiers and stated attributes.

The researcher holds it, not the platform: groups have their names here. Most volunteers are on the
platform, some are not; some never gave the platform the address on the list; a few signed up twice.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from platform_sim.draws.choices import Codes
from platform_sim.draws.randomness import stream
from platform_sim.people import identifiers
from platform_sim.people.demographics import ATTRIBUTES
from platform_sim.people.surnames import SURNAMES
from platform_sim.world import World

_STRANGER = -1
_WITH_PHONE = 0.75


def recruit(
    world: World,
    n: int,
    attribute: str = "gender",
    values: Sequence[str] = ("woman", "man"),
    *,
    seed: int,
    occupation: str = "software",
    qualified: float = 0.8,
    on_platform: float | Mapping[str, float] = 0.95,
    twice: float = 0.01,
    also: Sequence[str] = (),
) -> pa.Table:
    """Return `n` volunteers, the same number of each value, and a second row for a few of them.

    `qualified`: the share with the experience for `occupation`. `on_platform`: the share that is on
    the platform, for all or by value. `twice`: the share that signed up a second time, with the
    e-mail address in another spelling. `also`: other attributes that volunteers state, in their
    natural proportions. Columns: email, username, phone, the attribute, qualified, and these.
    """
    rng = stream(seed, "recruit")
    labels = np.sort(np.arange(n) % len(values))
    able = np.concatenate([_leading(size, qualified) for size in np.bincount(labels)])
    persons = np.full(n, _STRANGER, np.int64)
    for label, value in enumerate(values):
        present = on_platform[value] if isinstance(on_platform, Mapping) else on_platform
        having = world.demographics.having(attribute, value)
        for skill in (True, False):
            rows = np.flatnonzero((labels == label) & (able == skill))
            rows = rows[_leading(len(rows), present)]
            pool = np.flatnonzero(having & (world.qualified(occupation) == skill))
            persons[rows] = _volunteers(rng, pool, len(rows))
    columns = _called(world, persons, rng)
    columns |= {attribute: pa.array(values).take(pa.array(labels)), "qualified": pa.array(able)}
    columns |= {other: _stated(world, persons, other, rng) for other in also}
    table = _with_second_rows(pa.table(columns), round(twice * n), rng)
    return table.take(pa.array(rng.permutation(len(table))))


def _leading(size: int, share: float) -> NDArray[np.bool_]:
    return np.arange(size) < round(size * share)


def _volunteers(rng: np.random.Generator, pool: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    if count > len(pool):
        raise ValueError(
            f"{count} volunteers are wanted of a group of {len(pool)}: "
            "recruit fewer, or make a world of more people"
        )
    return rng.choice(pool, count, replace=False)


def _called(
    world: World, persons: NDArray[np.int64], rng: np.random.Generator
) -> dict[str, pa.Array]:
    """Return identifiers: everybody has an e-mail address, most a phone; strangers have names from
    elsewhere.
    """
    strange = persons == _STRANGER
    elsewhere = identifiers.MOST_PEOPLE - world.people
    numbers = persons.copy()
    numbers[strange] = world.people + rng.choice(elsewhere, strange.sum(), replace=False)
    surnames: Codes = rng.integers(len(SURNAMES), size=len(persons), dtype=np.int8)
    surnames[~strange] = world.surnames[persons[~strange]]
    named = strange | np.isin(persons, world.directory.holders("username"))
    reachable = rng.random(len(persons)) < _WITH_PHONE
    usernames = identifiers.usernames(world.seed, numbers, surnames)
    phones = identifiers.phones(world.seed, numbers)
    return {
        "email": identifiers.emails(world.seed, numbers, surnames),
        "username": pc.if_else(pa.array(named), usernames, None),
        "phone": pc.if_else(pa.array(reachable), phones, None),
    }


def _stated(
    world: World, persons: NDArray[np.int64], attribute: str, rng: np.random.Generator
) -> pa.Array:
    """Return each volunteer's statements; strangers have the platform's proportions."""
    codes = world.demographics.codes(attribute)
    strange = persons == _STRANGER
    others = codes[rng.integers(world.people, size=len(persons))]
    return pa.array(ATTRIBUTES[attribute]).take(pa.array(np.where(strange, others, codes[persons])))


def _with_second_rows(table: pa.Table, count: int, rng: np.random.Generator) -> pa.Table:
    """Return the same people again, in capitals and without their user name."""
    again = table.take(pa.array(rng.choice(len(table), count, replace=False)))
    shouted = pc.binary_join_element_wise("", pc.utf8_upper(again["email"]), " ")
    again = again.set_column(0, "email", shouted)
    again = again.set_column(1, "username", pa.nulls(count, pa.string()))
    return pa.concat_tables([table, again]).combine_chunks()
