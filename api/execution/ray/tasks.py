"""Tasks of a cluster: functions of their arguments and of the platform's adapter.

Every process creates the adapter once, and checks that it has the worker's model.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from api.platforms import partitions, row_exchange
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Columns, LogColumns, Persons, Platform
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership


@lru_cache(maxsize=1)
def _made(adapter: bytes) -> Platform:
    make: Callable[[], Platform] = pickle.loads(adapter)  # noqa: S301  (a worker's of ours)
    return make()


def get_model_digest(platform: Platform, wanted: LogColumns | None) -> str | None:
    """Return the digest of the model that is read: that of a log, or the one that scores."""
    if wanted is not None:
        return platform.logs.logs()[wanted.log].model_digest if platform.logs else None
    return platform.scores.model_digest if platform.scores else None


@dataclass(frozen=True)
class Adapter:
    """Adapter of a process: its factory, the columns to read, and the model that it must have."""

    make: bytes
    model: str | None
    wanted: LogColumns | None
    gathers: bool

    @contextmanager
    def platform(self, shares: Sequence[pa.Table | None] = ()) -> Iterator[Platform]:
        """Yield the platform, with logs of the gathered rows; check the model before and after.

        A receipt names the worker's model, and this process created its adapter at another time.
        """
        made = _made(self.make)
        self._require_model(made)
        yield self._with_logs(made, shares)
        self._require_model(made)

    def _with_logs(self, made: Platform, shares: Sequence[pa.Table | None]) -> Platform:
        whole = [share for share in shares if share is not None]
        if not self.gathers or self.wanted is None or made.logs is None or len(whole) < len(shares):
            return made  # a piece could not be scanned, so everybody's rows are read by person
        return replace(
            made, logs=row_exchange.GatheredLogs.of(made.logs.logs(), self.wanted, whole)
        )

    def _require_model(self, made: Platform) -> None:
        if get_model_digest(made, self.wanted) != self.model:
            raise PlatformDownError(
                "The cluster has another model than the worker.", case="another-model"
            )


def reduce_partition(
    work: Callable[[Platform, Membership], Table],
    adapter: Adapter,
    people: Membership,
    *shares: pa.Table | None,
) -> Table:
    with adapter.platform(shares) as platform:
        return work(platform, people)


def split_by_key(
    work: Callable[[Platform, Membership], Columns],
    key: str,
    count: int,
    adapter: Adapter,
    people: Membership,
    *shares: pa.Table | None,
) -> list[Columns]:
    """Return the rows read by person, for each partition of their keys."""
    with adapter.platform(shares) as platform:
        rows = work(platform, people)
    return partitions.split_columns(rows, partitions.partition_keys(rows[key], count), count)


def compute_by_key(work: Callable[[Columns], Table], *shares: Columns) -> Table:
    names = shares[0].keys()
    return work({name: np.concatenate([share[name] for share in shares]) for name in names})


def scatter_rows(
    adapter: Adapter, wanted: LogColumns, piece: str, everyone: Persons, count: int
) -> list[pa.Table | None]:
    """Return the rows for each partition; None if somebody's rows prevent the scan of the piece."""
    with adapter.platform() as platform:
        if platform.pieces is None or platform.logs is None:
            raise PlatformDownError("The adapter in the cluster has no pieces.")
        if piece not in platform.pieces.pieces(wanted.log):
            raise PlatformDownError(f"A piece of the log {wanted.log!r} is missing.")
        log = platform.logs.logs()[wanted.log]
        try:
            return [
                *row_exchange.scatter_piece(platform.pieces, log, wanted, piece, everyone, count)
            ]
        except Exception:  # an adapter may raise anything, and the error may concern a person
            return [None] * count
