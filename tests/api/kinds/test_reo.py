"""Counts of equal opportunity against a slow and obvious model; what one viewer can change."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from api.kernel.errors import UnsupportedAuditError
from api.kinds.context import in_process_context
from api.kinds.registry import AudienceFacts, offered
from api.kinds.reo import Reo
from api.platforms.interfaces import Log, Platform, Traffic
from openapi.resources import ReoRequest
from privacy import waist
from privacy.tables.membership import Membership
from tests.logs.parquet import ParquetLogs
from tests.refusals import refuses

KIND = Reo()
FEED = Log(
    person="viewer",
    numbers={"like": (0.0, 1.0), "share": (0.0, 1.0), "seconds": (0.0, 60.0)},
    words={
        "strategy": ("old", "new", "random"),
        "day": ("1", "2"),
        "region": ("north", "middle", "south"),
        "age": ("young", "old"),
    },
    traffic=Traffic("strategy", "random", ("like", "share"), ("region", "age"), "day"),
)
FACTS = AudienceFacts(labels=("g0", "g1"), groups_per_person=1, known_sizes=None)


def asked(**changes: Any) -> ReoRequest:
    fields = {
        "kind": "reo",
        "audience_id": "audience_" + "0" * 30,
        "log": "feed",
        "signals": ["like", "share"],
        "creators": "region",
        "groups": ["north", "south"],
        "strategies": ["old", "new"],
        "days": ["1", "2"],
        "epsilon": "1",
    }
    return ReoRequest.model_validate(fields | changes)


def rows(people: int, each: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    count = people * each
    words = {name: rng.choice(values, count) for name, values in FEED.words.items()}
    signals = {name: rng.integers(0, 2, count) for name in ("like", "share")}
    return pl.DataFrame(
        {"person": np.repeat(np.arange(people), each), **words, **signals, "seconds": 1.0}
    )


def platform_of(folder: Path, frame: pl.DataFrame, log: Log = FEED) -> Platform:
    frame.write_parquet(folder / "feed.parquet")
    people: Any = None
    return Platform(name="logs", people=people, logs=ParquetLogs(folder, {"feed": log}))


def counted(
    request: ReoRequest, platform: Platform, groups: tuple[Any, ...], k: int = 1
) -> np.ndarray:
    facts = AudienceFacts(tuple(f"g{n}" for n in range(len(groups))), k, None)
    plan = KIND.plan(request, facts)
    made = KIND.reduce(request, plan, [], Membership(groups, k), in_process_context(platform))
    return made["counts"].cells


def obvious(request: ReoRequest, frame: pl.DataFrame, people: Any) -> np.ndarray:
    """One row at a time: strategies by days, then random traffic; region; positive or not."""
    days: list[Any] = [*request.days] or [None]
    table = np.zeros((len(request.strategies) * len(days) + 1, len(request.groups), 2), int)
    for row in frame.iter_rows(named=True):
        if row["person"] not in people or row["region"] not in request.groups:
            continue
        if request.days and row["day"] not in request.days:
            continue
        if row["strategy"] == "random":
            slot = len(table) - 1
        elif row["strategy"] in request.strategies:
            day = days.index(row["day"]) if request.days else 0
            slot = request.strategies.index(row["strategy"]) * len(days) + day
        else:
            continue
        positive = any(row[name] for name in request.signals)
        table[slot, request.groups.index(row["region"]), int(positive)] += 1
    return table


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"days": []},
        {"days": ["2"]},
        {"signals": ["share"]},
        {"strategies": ["new"], "groups": ["south", "middle", "north"]},
        {"where": {"age": ["young", "old"]}},
    ],
)
def test_the_counts_are_the_obvious_ones(changes: dict[str, Any], tmp_path: Path) -> None:
    frame = rows(40, 12)
    request = asked(rows_per_person=100, **changes)
    groups = (np.arange(0, 15), np.arange(15, 38))
    found = counted(request, platform_of(tmp_path, frame), groups)
    for number, people in enumerate(groups):
        assert (found[number] == obvious(request, frame, set(people.tolist()))).all()


def test_only_rows_with_the_words_asked_for_count(tmp_path: Path) -> None:
    frame = rows(40, 12)
    request = asked(rows_per_person=100, where={"age": ["young"]})
    found = counted(request, platform_of(tmp_path, frame), (np.arange(40),))
    young = frame.filter(pl.col("age") == "young")
    assert (found[0] == obvious(request, young, set(range(40)))).all()


def test_the_row_limit_of_a_viewer_covers_all_cells(tmp_path: Path) -> None:
    platform = platform_of(tmp_path, rows(50, 40))
    for most in (1, 3):
        found = counted(asked(rows_per_person=most), platform, (np.arange(50),))
        assert found.sum() == 50 * most


def test_drawn_rows_are_a_fair_sample_of_both_traffics(tmp_path: Path) -> None:
    frame = rows(3_000, 10)
    found = counted(asked(), platform_of(tmp_path, frame), (np.arange(3_000),))[0]
    every = obvious(asked(), frame, set(range(3_000)))
    # Three thousand draws: a share of a third is off by .05, 5.8 deviations, once in 1e8.
    shares = found.sum(axis=(1, 2)) / found.sum()
    assert np.abs(shares - every.sum(axis=(1, 2)) / every.sum()).max() < 0.05


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 1), (1, 3), (2, 3)])
def test_nobody_moves_the_table_further_than_its_bounds(k: int, m: int, tmp_path: Path) -> None:
    """Neighbours that differ in everything one viewer has, at the worst: all rows in one cell."""
    base = rows(6, 5).filter(pl.col("person") != 2)
    bounds = KIND.plan(asked(rows_per_person=m), AudienceFacts(("g0", "g1"), k, None))[
        "counts"
    ].bounds
    groups = (np.arange(0, 4), np.arange(2 if k == 2 else 4, 6))
    rng = np.random.default_rng(1)
    furthest = np.zeros(2)
    tables = []
    for trial in range(12):
        one = rows(1, 5, seed=trial).with_columns(person=pl.lit(2, pl.Int64))
        if trial % 2:
            words = {name: pl.lit(str(rng.choice(values))) for name, values in FEED.words.items()}
            one = one.with_columns(**words)
        folder = tmp_path / str(trial)
        folder.mkdir()
        frame = pl.concat([base, one]).sort("person")
        platform = platform_of(folder, frame)
        # Others have all of their rows counted, so that only this viewer's draw can differ.
        request = asked(rows_per_person=100)
        everyone = counted(request, platform, groups, k)
        alone = (np.array([2]), np.array([2]) if k == 2 else np.array([], np.int64))
        own = counted(request, platform, alone, k)
        drawn = counted(asked(rows_per_person=m), platform, alone, k)
        tables.append(everyone - own + drawn)
        assert np.abs(drawn).sum() <= bounds.added.l1
        assert (drawn**2).sum() <= bounds.added.l2_squared
    for first in tables:
        for second in tables:
            moved = np.abs(first - second)
            furthest = np.maximum(furthest, [moved.sum(), (moved**2).sum()])
            assert moved.max() <= bounds.changed.linf
    assert furthest[0] <= bounds.changed.l1
    assert furthest[1] <= bounds.changed.l2_squared
    assert furthest[0] == bounds.changed.l1  # met, so it is no larger than it must be


def test_the_price_is_what_was_asked_and_twice_that() -> None:
    for facts in (FACTS, AudienceFacts(("g0",), 1, None)):
        for request in (asked(), asked(rows_per_person=5), asked(days=[], strategies=["new"])):
            price = waist.price(KIND.plan(request, facts))
            assert price.amount("epsilon", "add-remove") == 1
            assert price.amount("epsilon", "change-one") == 2


@pytest.mark.parametrize(
    ("changes", "case", "named"),
    [
        ({"log": "none"}, "no-such-log", "'none'"),
        ({"signals": ["clap"]}, "no-such-numbers", "'clap'"),
        ({"signals": ["seconds"]}, "not-a-signal", "'seconds'"),
        ({"creators": "day", "groups": ["1", "2"], "days": []}, "not-a-group-of-creators", "'day'"),
        ({"groups": ["north", "west"]}, "no-such-words", "'west'"),
        ({"groups": ["north", "north"]}, "named-twice", "`groups`"),
        ({"strategies": ["old", "newest"]}, "no-such-words", "'newest'"),
        ({"strategies": ["random"]}, "random-traffic-named", "'random'"),
        ({"days": ["3"]}, "no-such-words", "'3'"),
        ({"where": {"region": ["north"]}}, "asked-twice", "'region'"),
        ({"where": {"strategy": ["old"]}}, "asked-twice", "'strategy'"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_costs_nothing(
    changes: dict[str, Any], case: str, named: str, tmp_path: Path
) -> None:
    platform = platform_of(tmp_path, rows(2, 2))
    KIND.check(asked(), FACTS, platform)
    with refuses(UnsupportedAuditError, case, named, "charged"):
        KIND.check(asked(**changes), FACTS, platform)


def test_without_random_traffic_it_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert FEED.traffic is not None
    blind = replace(FEED, traffic=replace(FEED.traffic, random=None))
    platform = platform_of(tmp_path, rows(2, 2), blind)
    with refuses(UnsupportedAuditError, "no-random-traffic"):
        KIND.check(asked(), FACTS, platform)
    assert "reo" not in offered(platform)
    plain = platform_of(tmp_path, rows(2, 2), replace(FEED, traffic=None))
    with refuses(UnsupportedAuditError, "no-recommendations"):
        KIND.check(asked(), FACTS, plain)
    assert "reo" in offered(platform_of(tmp_path, rows(2, 2)))


def test_fewer_than_two_groups_is_no_request() -> None:
    with pytest.raises(ValueError, match=r"groups\n.*\b2\b"):
        asked(groups=["north"])


def test_what_depends_on_private_rows_is_never_refused(tmp_path: Path) -> None:
    """No rows, no positives, no random rows, values out of range: charged, cut, noised (R2)."""
    empty = rows(3, 2).head(0)
    negative = rows(3, 4).with_columns(like=pl.lit(0), share=pl.lit(0))
    wild = rows(3, 4).with_columns(like=pl.lit(7), share=pl.lit(None, pl.Int64))
    for number, frame in enumerate((empty, negative, wild)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = counted(asked(), platform_of(folder, frame), (np.arange(3),))
        assert found.sum() == (3 if number == 1 else 0)
        assert found[..., 1].sum() == 0
