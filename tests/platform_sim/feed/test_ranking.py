"""A feed: uniform random traffic, an item shown once but logged in both, stages and boosts."""

from typing import Any

import numpy as np
import pytest

from platform_sim import Feed, World
from platform_sim.feed.items import POOL, make_items
from platform_sim.feed.ranking import (
    RANDOM,
    RECALLED,
    draw_likes,
    like_probabilities,
    serve,
    true_utilities,
)

WORLD = World(3, 4_000)


def penalty(u: dict[str, float]) -> float:
    values = np.array(list(u.values()))
    return float(values.std() / values.mean())


def test_random_items_are_uniform_over_the_pool() -> None:
    feed = Feed(activation=1.0)
    shown = serve(WORLD, feed, 0, 12_000)
    random = shown.item[shown.traffic == feed.traffics.index(RANDOM)]
    counts = np.bincount(random, minlength=POOL)
    expected = len(random) / POOL
    # A χ² of 2,998 degrees of freedom is below 3,400 but for one seed in a million.
    assert float(((counts - expected) ** 2 / expected).sum()) < 3_400


def test_activation_is_a_coin_for_each_request() -> None:
    feed = Feed(activation=0.1)
    shown = serve(WORLD, feed, 0, 12_000)
    rows = np.bincount(shown.traffic, minlength=len(feed.traffics))
    # 12,000 requests of 8 rows, a tenth of them with as many random ones.
    assert rows[-1] == pytest.approx(9_600, rel=0.15)
    assert rows[: len(feed.strategies)].sum() == pytest.approx(96_000, rel=0.05)
    none = serve(WORLD, Feed(activation=0.0), 0, 500)
    assert none.traffic.max() < len(feed.strategies)


def test_an_item_in_both_traffics_is_logged_in_both_with_one_label() -> None:
    feed = Feed(strategies={"default": {}}, activation=1.0)
    shown = serve(WORLD, feed, 0, 12_000)
    pair = shown.viewer * POOL + shown.item
    default, random = (shown.traffic == feed.traffics.index(name) for name in ("default", RANDOM))
    both = np.intersect1d(pair[default], pair[random])
    assert len(both) > 50
    label = dict(zip(pair[default].tolist(), shown.liked[default].tolist(), strict=True))
    again = dict(zip(pair[random].tolist(), shown.liked[random].tolist(), strict=True))
    assert all(label[each] == again[each] for each in both.tolist())
    # Within one traffic nobody meets an item twice.
    assert len(np.unique(pair[default])) == default.sum()


def test_labels_follow_chances_and_never_change() -> None:
    items = make_items(WORLD.seed, 1)
    rng = np.random.default_rng(1)
    viewer, item = rng.integers(0, WORLD.people, 200_000), rng.integers(0, POOL, 200_000)
    first = draw_likes(WORLD, items, 1, viewer, item)
    assert (first == draw_likes(WORLD, items, 1, viewer, item)).all()
    expected = like_probabilities(WORLD, items, viewer, item)
    # The standard error of the mean is below .001.
    assert float(first.mean()) == pytest.approx(float(expected.mean()), abs=0.006)


def test_recommendations_are_more_relevant_than_chance() -> None:
    feed = Feed(strategies={"default": {}}, activation=1.0)
    shown = serve(WORLD, feed, 0, 4_000)
    rates = [float(shown.liked[shown.traffic == k].mean()) for k in range(len(feed.traffics))]
    by_name = dict(zip(feed.traffics, rates, strict=True))
    assert by_name["default"] > by_name[RECALLED] > by_name[RANDOM]


def test_boosts_move_the_true_penalty_as_configured() -> None:
    boosts = {"down": {"no": 1.25}, "none": {}, "up": {"yes": 2.0}}
    feed = Feed(strategies=boosts, ranking={"yes": 1.25})
    found = {name: penalty(true_utilities(WORLD, feed, name, requests=4_000)) for name in boosts}
    # A weight of 1.25 against a lean of 1.25 makes it even; twice the weight makes it worse.
    assert found["down"] < 0.03
    assert found["down"] < found["none"] < found["up"]
    assert found["up"] > 0.2


def test_each_stage_can_lean_alone() -> None:
    recall = Feed(strategies={"default": {}}, recall={"yes": 3.0}, ranking={}, activation=1.0)
    shown = serve(WORLD, recall, 0, 12_000)
    groups = make_items(WORLD.seed, 0).young_adult[shown.item]
    by = np.zeros((len(recall.traffics), 2))
    np.add.at(by, (shown.traffic, groups), shown.liked)
    default, recalled, random = by
    assert penalty(dict(enumerate(recalled / random))) > 0.1  # type: ignore[arg-type]
    assert penalty(dict(enumerate(default / recalled))) < 0.1  # type: ignore[arg-type]


def test_nonsense_is_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"activation": 1.5}, "activation"),
        ({"shown": 0}, r"\b40\b"),
        ({"strategies": {RANDOM: {}}}, rf"\b{RANDOM}\b"),
    ]
    for fields, named in wrong:
        with pytest.raises(ValueError, match=named):
            Feed(**fields)
