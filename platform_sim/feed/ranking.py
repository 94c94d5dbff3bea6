"""Feed of recommendations in two stages, with random traffic.

Recall keeps some of many candidates by a rough estimate of a viewer's taste; ranking shows the best
of them by a better estimate. Both may favour a group of creators; a strategy boosts groups in
ranking. A few requests are activated: they also get items drawn uniformly from the whole pool, and
items that passed recall, whatever their rank. So each stage can be measured alone.

Each pair of viewer and item has one fixed answer whether the viewer likes the item. An item that
both traffics choose for a viewer is shown once and logged in both.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, §3.2 (activation), §4.4 (boosting), I.1 (de-duplication), I.4 (stages).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import draw_uniform, stream
from platform_sim.feed.items import CREATORS, POOL, Items, make_items
from platform_sim.world import World

Numbers = NDArray[np.int64]
Weights = Mapping[str, float]

RANDOM, RECALLED = "random", "recalled"
_CANDIDATES, _RECALLED = 120, 40
_BASE, _TASTE = -1.9, 0.9
_CHUNK = 20_000


@dataclass(frozen=True)
class Feed:
    """Recommendations of a platform. Weights are by value of `attribute` (default: 1).

    A weight w adds ln w to a score with Gumbel noise: an item is chosen as if there were w of it.
    `strategies` have such weights for ranking, and a share each of all viewers; `default` has none.
    """

    attribute: str = "young_adult"
    strategies: Mapping[str, Weights] = field(
        default_factory=lambda: {"default": {}, "boosted": {"yes": 2.0}}
    )
    recall: Weights = field(default_factory=dict)
    ranking: Weights = field(default_factory=lambda: {"yes": 1.3})
    activation: float = 1 / 7
    shown: int = 8

    def __post_init__(self) -> None:
        if not 0 <= self.activation <= 1:
            raise ValueError("the probability of activation must be from 0 to 1")
        if not 1 <= self.shown <= _RECALLED:
            raise ValueError(f"a request must show from 1 to {_RECALLED} items")
        if {RANDOM, RECALLED} & set(self.strategies):
            raise ValueError(f"{RANDOM} and {RECALLED} are traffics, not strategies")

    @property
    def traffics(self) -> tuple[str, ...]:
        return (*self.strategies, RECALLED, RANDOM)


@dataclass(frozen=True)
class ShownItems:
    """Rows of one day: who, what, in which traffic (a place in `Feed.traffics`), liked or not."""

    viewer: Numbers
    item: Numbers
    traffic: Numbers
    liked: NDArray[np.bool_]


def serve(world: World, feed: Feed, day: int, requests: int) -> ShownItems:
    """Return the shown items of one day of requests, computed in chunks."""
    rng = stream(world.seed, f"feed/{day}")
    online = np.cumsum(np.exp(0.7 * world.interests.activity.astype(np.float64)))
    viewers = np.searchsorted(online, rng.random(requests) * online[-1]).astype(np.int64)
    items = make_items(world.seed, day)
    parts = [
        _serve_some(world, feed, items, viewers[start : start + _CHUNK], rng)
        for start in range(0, requests, _CHUNK)
    ]
    viewer, item, traffic = (np.concatenate(column) for column in zip(*parts, strict=True))
    # A viewer meets an item once in each traffic.
    key = (viewer * len(feed.traffics) + traffic) * POOL + item
    _, first = np.unique(key, return_index=True)
    viewer, item, traffic = viewer[first], item[first], traffic[first]
    return ShownItems(viewer, item, traffic, draw_likes(world, items, day, viewer, item))


def draw_likes(
    world: World, items: Items, day: int, viewer: Numbers, item: Numbers
) -> NDArray[np.bool_]:
    """Tell whether each viewer likes each item; the answer for a pair is always the same."""
    pair = (viewer * POOL + item).astype(np.int64)
    return np.asarray(
        draw_uniform(world.seed, f"likes/{day}", pair)
        < like_probabilities(world, items, viewer, item)
    )


def like_probabilities(
    world: World, items: Items, viewer: Numbers, item: Numbers
) -> NDArray[np.float64]:
    """Return the probability that a viewer likes an item: the truth that no stage sees."""
    taste = world.interests.tastes[viewer, items.topic[item]]
    return np.asarray(1 / (1 + np.exp(-(_BASE + _TASTE * taste + items.quality[item]))), np.float64)


def _serve_some(
    world: World, feed: Feed, items: Items, viewers: Numbers, rng: np.random.Generator
) -> tuple[Numbers, Numbers, Numbers]:
    """Return viewer, item and traffic of each row of some requests."""
    arms = (draw_uniform(world.seed, "arms", viewers) * len(feed.strategies)).astype(np.int64)
    recalled = _recall(world, feed, items, viewers, rng)
    chosen = _rank(world, feed, items, viewers, recalled, arms, rng)
    active = np.flatnonzero(rng.random(len(viewers)) < feed.activation)
    probed = _drawn(rng, len(active), feed.shown)
    # The first items that passed recall, whose order is random.
    passed = recalled[active, : feed.shown]
    count = len(feed.strategies)
    rows = [
        (viewers, chosen, arms),
        (viewers[active], passed, np.full(len(active), count)),
        (viewers[active], probed, np.full(len(active), count + 1)),
    ]
    columns = zip(*(_long(*row) for row in rows), strict=True)
    viewer, item, traffic = (np.concatenate(column) for column in columns)
    return viewer, item, traffic


def _long(viewers: Numbers, items: Numbers, traffic: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    wide = items.shape[1]
    return np.repeat(viewers, wide), items.ravel(), np.repeat(traffic, wide)


def _drawn(rng: np.random.Generator, requests: int, count: int) -> Numbers:
    """Return distinct items for each request, each uniform over the pool."""
    start = rng.integers(0, POOL, (requests, 1))
    step = rng.integers(1, POOL, (requests, 1))
    return np.asarray((start + step * np.arange(count)) % POOL, np.int64)


def _recall(
    world: World, feed: Feed, items: Items, viewers: Numbers, rng: np.random.Generator
) -> Numbers:
    """Return the candidates that suit the viewer's noticed tastes, in random order."""
    candidates = _drawn(rng, len(viewers), _CANDIDATES)
    noticed = world.interests.noticed[viewers[:, None], items.topic[candidates]]
    score = _TASTE * noticed + _boost(items, feed, feed.recall)[candidates]
    score += rng.gumbel(size=score.shape).astype(np.float32)
    kept = np.argpartition(score, -_RECALLED, axis=1)[:, -_RECALLED:]
    kept = rng.permuted(kept, axis=1)
    return np.take_along_axis(candidates, kept, axis=1)


def _rank(
    world: World,
    feed: Feed,
    items: Items,
    viewers: Numbers,
    recalled: Numbers,
    arms: Numbers,
    rng: np.random.Generator,
) -> Numbers:
    """Return the best of what passed recall, by taste and quality and the strategy's boosts."""
    noticed = world.interests.noticed[viewers[:, None], items.topic[recalled]]
    score = 2 * (_TASTE * noticed + items.quality[recalled])
    score += _boost(items, feed, feed.ranking)[recalled]
    by_arm = np.stack([_boost(items, feed, weights) for weights in feed.strategies.values()])
    score += by_arm[arms[:, None], recalled]
    score += rng.gumbel(size=score.shape).astype(np.float32)
    best = np.argpartition(score, -feed.shown, axis=1)[:, -feed.shown :]
    return np.take_along_axis(recalled, best, axis=1)


def _boost(items: Items, feed: Feed, weights: Weights) -> NDArray[np.float32]:
    by_code = [np.log(weights.get(value, 1.0)) for value in CREATORS[feed.attribute]]
    return np.asarray(by_code, np.float32)[items.creators(feed.attribute)]


def true_utilities(
    world: World, feed: Feed, strategy: str, day: int = 0, requests: int = 20_000
) -> dict[str, float]:
    """Return P(shown | liked, group) up to a factor, from probabilities instead of labels.

    For tests and the ground truth of demos: no auditor sees it.
    """
    rng = stream(world.seed, f"truth/{day}")
    items = make_items(world.seed, day)
    online = np.cumsum(np.exp(0.7 * world.interests.activity.astype(np.float64)))
    viewers = np.searchsorted(online, rng.random(requests) * online[-1]).astype(np.int64)
    recalled = _recall(world, feed, items, viewers, rng)
    arms = np.full(requests, list(feed.strategies).index(strategy))
    chosen = _rank(world, feed, items, viewers, recalled, arms, rng)
    probed = _drawn(rng, requests, 200)
    groups = items.creators(feed.attribute)
    found = {}
    for code, value in enumerate(CREATORS[feed.attribute]):
        liked = [
            float(
                np.mean(
                    like_probabilities(world, items, viewers[:, None], some)
                    * (groups[some] == code)
                )
            )
            for some in (chosen, probed)
        ]
        found[value] = liked[0] / liked[1]
    return found
