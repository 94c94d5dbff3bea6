"""On a Ray cluster: people are read, scored and counted where their data are.

What goes to the cluster is what an adapter is told anyway (contents, person numbers, columns) and
the reduction; what comes back are bounded tables, which are private until they have passed the
waist. Keys, the database and noise never leave the worker. A process of the cluster that dies takes
nothing with it: what it did is a function of its input, and is done again.

Every process of the cluster makes the platform's adapter for itself, once.
"""

import os
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from ray.exceptions import RayError, RayTaskError

from api.adapters import PlatformDownError
from api.engine import exchange, partitions
from api.platform import Columns, Persons, Platform, Wanted
from api.settings import RayCluster
from privacy.membership import Membership
from privacy.table import Table

# How often a task is begun anew when the process that ran it has died.
DEATHS = 5

_CONNECTING = threading.Lock()


@dataclass(frozen=True)
class OnRay:
    """`make` makes the platform's adapter in a process of the cluster."""

    platform: Platform
    make: Callable[[], Platform]
    cluster: RayCluster

    def total(
        self,
        membership: Membership,
        reduce: Callable[[Platform, Membership], Table],
        wanted: Wanted | None = None,
    ) -> Table:
        with _at(self.cluster):
            work, task = ray.put(reduce), self._task(_REDUCED)
            return _added([task(work, *people) for people in self._people(membership, wanted)])

    def compared(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: Wanted | None = None,
    ) -> Table:
        with _at(self.cluster):
            count, work = self.cluster.partitions, ray.put(read)
            task = self._task(_APART, returns=count)
            rows = [task(work, key, count, *each) for each in self._people(membership, wanted)]
            last, task = ray.put(reduce), self._task(_COMPARED)
            return _added([task(last, *same) for same in zip(*rows, strict=True)])

    def _people(self, membership: Membership, wanted: Wanted | None) -> Iterator[tuple[Any, ...]]:
        """For each partition how to make the adapter, its people, and what was gathered of them."""
        adapter = ray.cloudpickle.dumps(self.make)  # type: ignore[no-untyped-call]
        parts = partitions.parts(membership, self.cluster.partitions)
        if wanted is None or self.platform.pieces is None:
            yield from ((adapter, part, None) for part in parts)
            return
        everyone = ray.put(np.sort(membership.everyone()))
        task = self._task(_SCATTERED, returns=len(parts))
        rows = [
            task(adapter, wanted, piece, everyone, len(parts))
            for piece in self.platform.pieces.pieces(wanted.log)
        ]
        for number, part in enumerate(parts):
            yield adapter, part, wanted, *(each[number] for each in rows)

    def _task(self, function: Any, returns: int = 1) -> Callable[..., Any]:
        where = {self.cluster.resource: 1} if self.cluster.resource else None
        options = {"max_retries": DEATHS, "num_returns": returns, "resources": where}
        task: Callable[..., Any] = function.options(**options).remote
        return task


@contextmanager
def _at(cluster: RayCluster) -> Iterator[None]:
    """Connected; whatever is wrong with the cluster itself is an outage, whoever is asked about."""
    _connect(cluster)
    try:
        yield
    except RayTaskError:
        raise  # what was raised within a task, and is of its class too
    except (RayError, ConnectionError) as error:
        raise PlatformDownError("the cluster does not answer") from error


def _connect(cluster: RayCluster) -> None:
    with _CONNECTING:
        if ray.is_initialized():
            return
        # Nothing about audits goes to whoever makes Ray.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray.init(cluster.address, include_dashboard=False, log_to_driver=False)
        except Exception as error:  # where it cannot start, of no class of its own
            ray.shutdown()
            raise PlatformDownError("the cluster cannot be reached") from error


def _added(tables: list[Any]) -> Table:
    got: list[Table] = ray.get(tables)
    return reduce(add, got)


# --- in processes of the cluster


@lru_cache(maxsize=1)
def _made(adapter: bytes) -> Platform:
    make: Callable[[], Platform] = pickle.loads(adapter)  # noqa: S301  (a worker's of ours)
    return make()


def _platform(adapter: bytes, wanted: Wanted | None, shares: tuple[pa.Table, ...]) -> Platform:
    """The platform, with logs of what was gathered from pieces."""
    platform = _made(adapter)
    if wanted is None or platform.logs is None:
        return platform
    return replace(platform, logs=exchange.Gathered.of(platform.logs.logs(), wanted, shares))


def _reduced(
    work: Callable[[Platform, Membership], Table],
    adapter: bytes,
    people: Membership,
    wanted: Wanted | None,
    *shares: pa.Table,
) -> Table:
    return work(_platform(adapter, wanted, shares), people)


def _apart(
    work: Callable[[Platform, Membership], Columns],
    key: str,
    count: int,
    adapter: bytes,
    people: Membership,
    wanted: Wanted | None,
    *shares: pa.Table,
) -> list[Columns]:
    """Rows read by person, for each partition of their keys."""
    rows = work(_platform(adapter, wanted, shares), people)
    return partitions.columns_apart(rows, partitions.of_keys(rows[key], count), count)


def _compared(work: Callable[[Columns], Table], *shares: Columns) -> Table:
    names = shares[0].keys()
    return work({name: np.concatenate([share[name] for share in shares]) for name in names})


def _scattered(
    adapter: bytes, wanted: Wanted, piece: str, everyone: Persons, count: int
) -> list[pa.Table]:
    pieces = _made(adapter).pieces
    if pieces is None:
        raise PlatformDownError("this adapter has no pieces in the cluster")
    return exchange.scattered(pieces, wanted, piece, everyone, count)


_REDUCED: Any = ray.remote(_reduced)
_APART: Any = ray.remote(_apart)
_COMPARED: Any = ray.remote(_compared)
_SCATTERED: Any = ray.remote(_scattered)
