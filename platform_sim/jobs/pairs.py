"""Scored pairs: candidates for a job (InstaJob), and for a member's list (PYMK).

A pair has the features that the model sees, and the log-odds of the two steps of its outcome. The
person whom the recommendation reaches takes the first step (a job seeker applies, a member
invites). The other side takes the second (a recruiter responds, the invited person accepts and
stays in touch). The model sees interests as the platform noticed them; people act by their tastes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.people.interests import TOPICS, TRADES
from platform_sim.world import World

Floats = NDArray[np.float32]
CANDIDATES_PER_LIST = 25


@dataclass(frozen=True, eq=False)
class Pairs:
    """One row per candidate and job or list; `query` is the number of the job or of the viewer."""

    person: NDArray[np.int64]
    query: NDArray[np.int64]
    seen: Floats
    first: Floats
    second: Floats

    def take(self, rows: NDArray[np.int64]) -> "Pairs":
        return Pairs(*(column[rows] for column in vars(self).values()))


def job_pairs(world: World, rows: int, name: str) -> Pairs:
    """Return about `rows` candidates, the same number for each job of the catalogue, mostly active
    people.
    """
    jobs = [TRADES.index(p.topic) for p in world.catalogue if p.content["kind"] == "job"]
    rng = stream(world.seed, f"{name}/candidates")
    each = min(max(rows // len(jobs), 1), world.people)
    drawn = [_online(world, rng, each) for _ in jobs]
    persons = np.concatenate(drawn)
    query = np.repeat(np.arange(len(jobs)), [len(some) for some in drawn])
    trade = np.array(jobs)[query]
    tastes, noticed = world.interests.tastes, world.interests.noticed
    trained = (world.work.occupation[persons] == trade).astype(np.float32)
    skill = trained * np.log1p(world.work.years[persons])
    taste, interest = tastes[persons, trade], noticed[persons, trade]
    activity = world.interests.activity[persons]
    seen = _columns(
        interest, trained, skill, activity, interest**2, skill**2, interest * trained,
        interest * skill, interest * activity, *world.homes.neighbourhood[persons].T,
    )  # fmt: skip
    first = -1.1 + 0.8 * taste + 0.7 * trained + 0.15 * skill
    second = -1.6 + 1.2 * trained + 0.55 * skill
    return Pairs(persons, query, seen, first, second)


def list_pairs(world: World, rows: int, name: str) -> Pairs:
    """Return about `rows` candidates in lists of 25, half of them of the viewer's own trade."""
    rng = stream(world.seed, f"{name}/candidates")
    lists = max(rows // CANDIDATES_PER_LIST, 1)
    viewers = _online(world, rng, min(lists, world.people))
    viewer = np.repeat(viewers, CANDIDATES_PER_LIST)
    persons = _colleagues_and_others(world, rng, viewer)
    pairs = np.unique((viewer * world.people + persons)[viewer != persons])
    viewer, persons = np.divmod(pairs, world.people)
    same = (world.work.occupation[viewer] == world.work.occupation[persons]).astype(np.float32)
    near = (world.homes.place[viewer] == world.homes.place[persons]).astype(np.float32)
    alike = _alike(world.interests.tastes, viewer, persons)
    noticed = _alike(world.interests.noticed, viewer, persons)
    activity = world.interests.activity[persons]
    apart = np.abs(np.log1p(world.work.years[viewer]) - np.log1p(world.work.years[persons]))
    seen = _columns(
        noticed, same, near, activity, apart, noticed**2, noticed * same, noticed * activity
    )
    first = -0.9 + 1.1 * alike + 0.8 * same + 0.5 * near - 0.2 * apart
    second = -0.4 + 0.7 * alike + 0.3 * activity
    return Pairs(persons, viewer, seen, first, second)


def _online(world: World, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return `count` distinct people, with active ones more likely (Efraimidis and Spirakis)."""
    keys = 0.7 * world.interests.activity + rng.gumbel(size=world.people)
    return np.sort(np.argpartition(-keys, count - 1)[:count])


def _colleagues_and_others(
    world: World, rng: np.random.Generator, viewer: NDArray[np.int64]
) -> NDArray[np.int64]:
    found = rng.integers(world.people, size=len(viewer))
    order = np.argsort(world.work.occupation, kind="stable")
    starts = np.searchsorted(world.work.occupation[order], np.arange(len(TRADES) + 1))
    trade = world.work.occupation[viewer].astype(np.int64)
    own = rng.random(len(viewer)) < 0.5
    sizes = starts[trade + 1] - starts[trade]
    colleague = order[starts[trade] + (rng.random(len(viewer)) * sizes).astype(np.int64)]
    return np.where(own, colleague, found)


def _alike(tastes: Floats, viewer: NDArray[np.int64], persons: NDArray[np.int64]) -> Floats:
    """Return the similarity of two people's tastes, of about unit size."""
    total = np.zeros(len(viewer), np.float32)
    for topic in range(len(TOPICS)):
        total += tastes[viewer, topic] * tastes[persons, topic]
    return total / np.float32(np.sqrt(len(TOPICS)))


def _columns(*columns: Floats) -> Floats:
    ones = np.ones_like(columns[0])
    return np.stack([ones, *columns], axis=1).astype(np.float32)
