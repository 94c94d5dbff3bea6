"""Log of a feed: one row per item shown to a viewer, sorted by viewer.

It has the methods of `api.platforms.interfaces`'s Logs, without importing them: plain dictionaries
describe a log. Rows are made when they are first read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.feed.items import CREATORS, make_items
from platform_sim.feed.ranking import RANDOM, Feed, serve
from platform_sim.feed.signals import SIGNALS, make_signals
from platform_sim.world import World

FEED = "feed"


@dataclass(frozen=True)
class Impressions:
    """Some days of a feed; a day has about `rows_per_day` rows of default traffic."""

    world: World
    feed: Feed = field(default_factory=Feed)
    days: int = 3
    rows_per_day: int = 40_000

    def logs(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the public facts: columns, their values, and the traffics."""
        random = RANDOM if self.feed.activation > 0 else None
        traffic = {
            "strategy": "strategy",
            "random": random,
            "signals": tuple(SIGNALS),
            "creators": tuple(CREATORS),
            "day": "day",
        }
        words = {"strategy": self.feed.traffics, "day": self._day_names, **CREATORS}
        numbers = dict.fromkeys(SIGNALS, (0.0, 1.0))
        return {FEED: {"person": "viewer", "numbers": numbers, "words": words, "traffic": traffic}}

    def read(
        self, log: str, persons: NDArray[np.int64], columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield all rows of these sorted viewers, ordered by viewer."""
        if log != FEED:
            raise ValueError(f"there is no log {log!r}")
        starts = np.searchsorted(self._viewers, persons, "left")
        stops = np.searchsorted(self._viewers, persons, "right")
        lengths = stops - starts
        # Row numbers start, start + 1 … of each viewer, one after the other.
        offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
        rows = offsets + np.arange(len(offsets))
        wanted = list(dict.fromkeys(["person", *columns]))
        yield from self.table.select(wanted).take(pa.array(rows)).to_batches()

    @cached_property
    def table(self) -> pa.Table:
        """The whole log."""
        parts = [self._day(day) for day in range(self.days)]
        table = pa.concat_tables(parts).unify_dictionaries()
        order = np.argsort(table["person"].to_numpy(), kind="stable")
        return table.take(pa.array(order)).combine_chunks()

    def traffic(self, name: str) -> pa.Table:
        """Return the rows of one traffic, in the shape of the paper's data: signals, creator,
        day.
        """
        mine = pc.equal(self.table["strategy"].cast(pa.string()), name)
        return self.table.filter(mine).drop_columns(["strategy"])

    def write_parquet(self, folder: Path) -> dict[str, Path]:
        """Write one file for each traffic."""
        import polars as pl  # importing takes a second, and only this function needs it

        paths = {name: folder / f"{name}.parquet" for name in self.feed.traffics}
        for name, path in paths.items():
            frame = pl.from_arrow(self.traffic(name))
            assert isinstance(frame, pl.DataFrame)  # noqa: S101  (a table, not a column)
            frame.write_parquet(path)
        return paths

    @cached_property
    def _viewers(self) -> NDArray[np.int64]:
        viewers: NDArray[np.int64] = self.table["person"].to_numpy()
        return viewers

    @property
    def _day_names(self) -> tuple[str, ...]:
        return tuple(f"day-{day + 1:02d}" for day in range(self.days))

    def _day(self, day: int) -> pa.Table:
        shown = serve(self.world, self.feed, day, self.rows_per_day // self.feed.shown)
        items = make_items(self.world.seed, day)
        signals = make_signals(shown.liked, stream(self.world.seed, f"signals/{day}"))
        creators = {
            name: _words(items.creators(name)[shown.item], values)
            for name, values in CREATORS.items()
        }
        return pa.table(
            {
                "person": shown.viewer,
                "strategy": _words(shown.traffic, self.feed.traffics),
                "day": _words(np.full(len(shown.viewer), day), self._day_names),
                **creators,
                **signals,
            }
        )


def _words(codes: NDArray[Any], values: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(values))
