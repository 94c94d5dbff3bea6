"""A platform of numbered people that processes of a cluster make for themselves.

A score follows from the person's number alone. Some people cannot be scored, and some have no
score. Logs are Parquet files in which rows lie anywhere. In its folder every call to score somebody
leaves a file `began-<process>`; while there is a file `hold`, calls wait; while there is a file
`down`, they fail for everybody; a file `model` has its digest. While there is a file
`touchy`, pieces cannot be scanned for the sake of person 13, whose rows cannot be read either.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from api.kernel.splitmix64 import splitmix64
from api.platforms.files.parquet_logs import ParquetLogs
from api.platforms.interfaces import Log, Persons, Platform, Traffic
from tests.one_model import OneModel

PEOPLE = 3_000
FILES = 4
# How many rows person 0 has in every file; everybody else has a few in some.
ROWS_OF_ONE = 3
FEED = Log(
    person="viewer",
    numbers={"score": (0.0, 1.0), "outcome": (0.0, 1.0), "query": (0.0, 99.0), "like": (0.0, 1.0)},
    words={"strategy": ("usual", "random"), "region": ("north", "south")},
    traffic=Traffic("strategy", "random", ("like",), ("region",)),
)


def digest(folder: Path) -> str:
    file = folder / "model"
    return "sha256:" + (file.read_text() if file.exists() else "0") * 64


class Numbered(OneModel):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def model_digest(self) -> str:
        return digest(self.folder)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        if (self.folder / "down").exists():
            raise ConnectionError("no route")
        if len(persons):
            (self.folder / f"began-{os.getpid()}").touch()
        while len(persons) and (self.folder / "hold").exists():
            time.sleep(0.02)
        if 13 in persons:
            raise ValueError("nobody speaks of person 13")
        found = (
            splitmix64(persons.astype(np.uint64) + np.uint64(len(content["title"]))) >> 11
        ) / 2**53
        return np.where(persons % 100 == 7, np.nan, found)


class Touchy(ParquetLogs):
    def scan(self, log: str, piece: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in super().scan(log, piece, columns):
            if (self.folder / "touchy").exists() and 13 in batch["person"].to_pylist():
                raise ValueError("nobody reads of person 13")
            yield batch

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        if (self.folder / "touchy").exists() and 13 in persons:
            raise ValueError("nobody reads of person 13")
        return super().read(log, persons, columns)


def make(folder: str) -> Platform:
    numbered, people = Numbered(Path(folder)), Anybody()
    feed = replace(FEED, model_digest=digest(Path(folder)))
    logs = Touchy(Path(folder), {"feed": feed})
    return Platform("numbered", people=people, scores=numbered, logs=logs, pieces=logs)


class Anybody:
    """Identifiers are nobody's; samples are the first people."""

    def match(self, kind: str, identifiers: Any) -> Persons:
        return np.full(len(identifiers), -1)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {"half": {"first": PEOPLE // 2, "second": PEOPLE // 2}}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        first = {"first": 0, "second": PEOPLE // 2}
        return {value: np.arange(size) + first[value] for value, size in sizes.items()}

    def confirmed(self, code: str) -> Persons:
        return np.arange(PEOPLE)


def write_feed(folder: Path, seed: int = 1) -> None:
    """Rows of everybody, scattered over the files; some have no outcome, and one is none."""
    (folder / "feed").mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for file in range(FILES):
        person = np.concatenate([np.zeros(ROWS_OF_ONE, int), rng.integers(1, PEOPLE + 500, 4_000)])
        rng.shuffle(person)
        outcome = np.where(rng.random(len(person)) < 0.6, rng.integers(0, 2, len(person)), np.nan)
        rows = {
            "person": person,
            "score": rng.normal(0.5, 0.4, len(person)),
            "outcome": pl.Series(outcome).fill_nan(None),
            "query": rng.integers(0, 20, len(person)).astype(float),
            "like": rng.integers(0, 2, len(person)),
            "strategy": rng.choice(["usual", "random", "unknown"], len(person)),
            "region": rng.choice(["north", "south"], len(person)),
        }
        frame = pl.DataFrame(rows)
        if file % 2:  # words as strings in some files, as codes in others
            frame = frame.with_columns(pl.col("strategy", "region").cast(pl.Categorical))
        frame.write_parquet(folder / "feed" / f"{file}.parquet")
