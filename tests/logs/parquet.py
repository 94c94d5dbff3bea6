"""A platform's logs in Parquet files, ordered by person and read by Polars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from api.platforms.interfaces import Log, Persons

OPPORTUNITIES = Log(
    person="candidate",
    numbers={"score": (0.0, 1.0), "outcome": (0.0, 1.0)},
    words={"week": ("1", "2", "3")},
    model_digest="sha256:" + "a" * 64,
)


@dataclass(frozen=True)
class ParquetLogs:
    """One file per log, in a folder."""

    folder: Path
    described: Mapping[str, Log]

    def logs(self) -> Mapping[str, Log]:
        return self.described

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        scanned = pl.scan_parquet(self.folder / f"{log}.parquet").select("person", *columns)
        if not len(persons):
            return _batches(scanned.head(0))
        first, last = int(persons[0]), int(persons[-1])
        scanned = scanned.filter(pl.col("person").is_between(first, last))
        if last - first + 1 > len(persons):
            asked = pl.LazyFrame({"person": persons}, schema={"person": pl.Int64})
            scanned = scanned.join(asked, on="person", how="semi", maintain_order="left")
        return _batches(scanned)


def _batches(rows: pl.LazyFrame) -> list[pa.RecordBatch]:
    """For Arrow; of words their codes as they are, where Polars would go through every row."""
    frame = rows.collect()
    words = {
        name: kind.categories.to_arrow()
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Enum)
    }
    table = frame.with_columns(pl.col(name).to_physical() for name in words).to_arrow()
    for name, known in words.items():
        codes, place = table[name], table.schema.get_field_index(name)
        chunks = [pa.DictionaryArray.from_arrays(chunk, known) for chunk in codes.chunks]
        column = pa.chunked_array(chunks, pa.dictionary(codes.type, known.type))
        table = table.set_column(place, name, column)
    batches: list[pa.RecordBatch] = table.to_batches()
    return batches


def written(folder: Path, rows: Mapping[str, Any], log: Log = OPPORTUNITIES) -> ParquetLogs:
    """A log `jobs` of these rows."""
    pl.DataFrame(rows).sort("person", maintain_order=True).write_parquet(folder / "jobs.parquet")
    return ParquetLogs(folder, {"jobs": log})


NOTIFIED = Log(
    person="candidate",
    numbers={"score": (0.0, 1.0), "outcome": (0.0, 1.0), "job": (0.0, 1_000.0)},
)


def notified(persons: Persons, better: Persons, seed: int = 1) -> dict[str, Any]:
    """One row each for one of twenty jobs; from a score of 0.5 on there is an outcome.

    Those of `better` have scores that are 0.3 too low.
    """
    rng = np.random.default_rng(seed)
    true = rng.random(len(persons))
    score = np.clip(true - 0.3 * np.isin(persons, better), 0, 1)
    outcome = (rng.random(len(persons)) < true).astype(np.float64)
    return {
        "person": persons,
        "score": score,
        "outcome": [value if s >= 0.5 else None for value, s in zip(outcome, score, strict=True)],
        "job": rng.integers(0, 20, len(persons)),
    }


def opportunities(
    persons: Persons,
    rows_per_person: int = 3,
    seed: int = 1,
    bias: Mapping[int, float] | None = None,
) -> dict[str, Any]:
    """Rows of a calibrated score, whose outcomes are `bias` better for whom it is told."""
    rng = np.random.default_rng(seed)
    person = np.repeat(persons, rows_per_person)
    score = rng.random(len(person))
    better = np.array([(bias or {}).get(int(each), 0.0) for each in person])
    return {
        "person": person,
        "score": score,
        "outcome": (rng.random(len(person)) < score + better).astype(np.int8),
        "week": rng.choice(["1", "2", "3"], len(person)),
    }
