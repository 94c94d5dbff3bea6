"""On a Ray cluster: people are read, scored and counted where their data are.

What goes to the cluster is what an adapter is told anyway (contents, person numbers, columns) and
the reduction; what comes back are bounded tables, which are private until they have passed the
waist. Keys, the database and noise never leave the worker. A process of the cluster that dies takes
nothing with it: what it did is a function of its input, and is done again.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError, RayTaskError

from api.adapters import PlatformDownError
from api.engine import in_cluster, partitions
from api.engine.in_cluster import Adapter, model_of
from api.platform import Columns, Platform, Wanted
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
        with _at(self.cluster) as begun:
            work, task = ray.put(reduce), self._task(_REDUCED, begun)
            people = self._people(membership, wanted, begun)
            return self._added([task(work, *each) for each in people])

    def compared(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: Wanted | None = None,
    ) -> Table:
        with _at(self.cluster) as begun:
            count, work = self.cluster.partitions, ray.put(read)
            task = self._task(_APART, begun, returns=count)
            people = self._people(membership, wanted, begun)
            rows = [task(work, key, count, *each) for each in people]
            last, task = ray.put(reduce), self._task(_COMPARED, begun)
            return self._added([task(last, *same) for same in zip(*rows, strict=True)])

    def _people(
        self, membership: Membership, wanted: Wanted | None, begun: list[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """For each partition how to make the adapter, its people, and what was gathered of them."""
        pieces = self.platform.pieces if wanted is not None else None
        make = ray.cloudpickle.dumps(self.make)  # type: ignore[no-untyped-call]
        model = model_of(self.platform, wanted)
        adapter = Adapter(make, model, wanted, gathers=pieces is not None)
        parts = partitions.parts(membership, self.cluster.partitions)
        if wanted is None or pieces is None:
            yield from ((adapter, part) for part in parts)
            return
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

    def _added(self, waiting: list[Any]) -> Table:
        """All tables, each as it comes; that none comes for so long is an outage."""
        got: list[Table] = []
        while waiting:
            done, waiting = ray.wait(waiting, timeout=self.cluster.patience_seconds)
            if not done:
                raise PlatformDownError("the cluster does not get anything done")
            got = [reduce(add, [*got, *ray.get(done)])]
        return got[0]


@contextmanager
def _at(cluster: RayCluster) -> Iterator[list[Any]]:
    """Connected; whatever is wrong with the cluster itself is an outage, whoever is asked about.

    What was begun is given up with the audit.
    """
    _connect(cluster)
    begun: list[Any] = []
    try:
        yield begun
    except (RayTaskError, PlatformDownError):
        _give_up(begun)
        raise  # what was raised within a task is of its class too
    except (RayError, ConnectionError) as error:
        raise PlatformDownError("the cluster does not answer") from error


def _give_up(begun: list[Any]) -> None:
    for each in begun:
        with suppress(Exception):  # the cluster may be gone, and what is done is done
            ray.cancel(each)


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


_REDUCED: Any = ray.remote(in_cluster.reduced)
_APART: Any = ray.remote(in_cluster.apart)
_COMPARED: Any = ray.remote(in_cluster.compared)
_SCATTERED: Any = ray.remote(in_cluster.scattered)
