"""Driver of a Ray cluster, where people are read, scored and counted close to their data.

The cluster receives the data that an adapter gets anyway (contents, person numbers, columns) and
the reduction. It returns bounded tables, which are private until they have passed the waist. Keys,
the database and noise never leave the worker. If a process of the cluster dies, nothing is lost:
its work is a function of its input, and is repeated.

Tasks of an abandoned audit are not cancelled: if a cancellation meets the end of its task, Ray ends
the process that requested it (ADR 14). They run to their end. No other task begins before that, or
before the time of an outage has passed, so abandoned tasks do not accumulate.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError, RayTaskError

from api.execution.ray import tasks as in_cluster
from api.execution.ray.tasks import Adapter, get_model_digest
from api.kernel.settings import RayCluster
from api.platforms import partitions
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Columns, LogColumns, Platform
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership

# Number of times that a task is restarted after the death of its process.
DEATHS = 5

_CONNECTING = threading.Lock()

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RayEngine:
    """Engine on Ray; `make` creates the platform's adapter in a process of the cluster."""

    platform: Platform
    make: Callable[[], Platform]
    cluster: RayCluster
    given_up: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def sum_tables(
        self,
        membership: Membership,
        reduce: Callable[[Platform, Membership], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        with self._connected() as begun:
            work, task = ray.put(reduce), self._task(_REDUCED, begun)
            people = self._people(membership, wanted, begun)
            return self._added([task(work, *each) for each in people])

    def total_by_key(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        with self._connected() as begun:
            count, work = self.cluster.partitions, ray.put(read)
            task = self._task(_APART, begun, returns=count)
            people = self._people(membership, wanted, begun)
            rows = [task(work, key, count, *each) for each in people]
            last, task = ray.put(reduce), self._task(_COMPARED, begun)
            return self._added([task(last, *same) for same in zip(*rows, strict=True)])

    def _people(
        self, membership: Membership, wanted: LogColumns | None, begun: list[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield for each partition the adapter, its people, and the rows gathered for them."""
        pieces = self.platform.pieces if wanted is not None else None
        make = ray.cloudpickle.dumps(self.make)  # type: ignore[no-untyped-call]
        model = get_model_digest(self.platform, wanted)
        adapter = Adapter(make, model, wanted, gathers=pieces is not None)
        count = self.cluster.partitions
        if wanted is None or pieces is None:
            yield from ((adapter, part) for part in partitions.split_by_range(membership, count))
            return
        parts = partitions.split_by_partition(membership, count)
        everyone = ray.put(np.sort(membership.everyone()))
        task = self._task(_SCATTERED, begun, returns=len(parts))
        names = pieces.pieces(wanted.log)
        rows = [task(adapter, wanted, piece, everyone, len(parts)) for piece in names]
        for number, part in enumerate(parts):
            yield adapter, part, *(each[number] for each in rows)

    def _task(self, function: Any, begun: list[Any], returns: int = 1) -> Callable[..., Any]:
        where = {self.cluster.resource: 1} if self.cluster.resource else None
        options = {"max_retries": DEATHS, "num_returns": returns, "resources": where}
        remote = function.options(**options).remote

        def begin(*given: Any) -> Any:
            promised = remote(*given)
            begun.append(promised if returns == 1 else promised[0])
            return promised

        return begin

    def _added(self, tables: list[Any]) -> Table:
        added: Table = reduce(add, (ray.get(table) for table in self._as_they_end(tables)))
        return added

    def _as_they_end(self, tasks: list[Any]) -> Iterator[Any]:
        """Yield results as tasks end; if none ends for `patience_seconds`, raise an outage."""
        while tasks:
            ended, tasks = ray.wait(tasks, timeout=self.cluster.patience_seconds)
            if not ended:
                raise PlatformDownError(
                    "No task of the cluster has ended in time.", case="cluster-stalled"
                )
            yield from ended

    def _outlast(self) -> None:
        """Wait for abandoned tasks for a while; one that never ends must not stop other audits."""
        waiting = self.given_up.copy()
        self.given_up.clear()
        try:
            for _ in self._as_they_end(waiting):
                pass
        except PlatformDownError:
            log.warning("ray.stuck", extra={"tasks": len(waiting)})

    @contextmanager
    def _connected(self) -> Iterator[list[Any]]:
        """Collect the tasks that begin in the block.

        Raise an error of the cluster itself as an outage.
        """
        _connect(self.cluster)
        begun: list[Any] = []
        try:
            self._outlast()
            yield begun
        except (RayTaskError, PlatformDownError):
            self.given_up.extend(begun)
            raise  # an error raised within a task has its own class as well
        except (RayError, ConnectionError) as error:
            raise PlatformDownError("The cluster does not answer.") from error


def _connect(cluster: RayCluster) -> None:
    with _CONNECTING:
        if ray.is_initialized():
            return
        # Ray must report nothing about audits to its makers.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray.init(cluster.address, include_dashboard=False, log_to_driver=False)
        except Exception as error:  # if it cannot start, the error has no common class
            ray.shutdown()
            raise PlatformDownError("The cluster cannot be reached.") from error


_REDUCED: Any = ray.remote(in_cluster.reduce_partition)
_APART: Any = ray.remote(in_cluster.split_by_key)
_COMPARED: Any = ray.remote(in_cluster.compute_by_key)
_SCATTERED: Any = ray.remote(in_cluster.scatter_rows)
