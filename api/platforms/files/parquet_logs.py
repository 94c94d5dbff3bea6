"""Logs in Parquet files: `<folder>/<log>/*.parquet`, with the person number in `person`.

Files are read in the order of their names. A person's rows may be in any of them, in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from api.platforms.interfaces import Log, Persons
from api.platforms.row_exchange import PERSON, encode_categories


@dataclass(frozen=True)
class ParquetLogs:
    """Both `Logs` and `LogFragments`: a file is a piece, so machines can read the files in
    parallel.
    """

    folder: Path
    described: Mapping[str, Log]

    def logs(self) -> Mapping[str, Log]:
        return self.described

    def pieces(self, log: str) -> Sequence[str]:
        return sorted(path.name for path in (self.folder / log).glob("*.parquet"))

    def scan(self, log: str, piece: str, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        with pq.ParquetFile(self.folder / log / piece) as file:
            yield from file.iter_batches(columns=[PERSON, *columns])

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield, from every file, the rows within the range of these people's numbers."""
        ends = (int(persons[0]), int(persons[-1])) if len(persons) else (1, 0)
        between = [(PERSON, ">=", ends[0]), (PERSON, "<=", ends[1])]
        for piece in self.pieces(log):
            path = self.folder / log / piece
            rows = pq.read_table(path, columns=[PERSON, *columns], filters=between)
            yield from encode_categories(rows).to_batches()
