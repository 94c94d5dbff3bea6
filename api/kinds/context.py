"""Context of one audit: the platform, and the parts of the service that kinds may use.

Adapters supply the platform. The service supplies everything else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from api.execution.in_process import InProcessEngine
from api.platforms.interfaces import Columns, LogColumns, Persons, Platform
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership


class Balances(Protocol):
    """Lifetime balances of people."""

    def shares(self, persons: Persons) -> NDArray[np.float64]:
        """Return the share of the lifetime cap that other audits spent, person by person."""
        ...


class Journal(Protocol):
    """Durable progress of an audit that explores for a while."""

    @property
    def course(self) -> str:
        """Return the name of the audit, under which steps are taken."""
        ...

    def read(self) -> bytes | None:
        """Return the last recorded state; None at the beginning."""
        ...

    def write(self, state: bytes) -> None:
        """Commit the state; raise if the audit was stopped or another worker has claimed it."""
        ...

    def wait_until(self, seconds: float, state: Callable[[], bytes]) -> None:
        """Wait until this many seconds after the beginning; record the state before a long wait."""
        ...


class Engine(Protocol):
    """Place where values of people are read and reduced: this process, or a cluster.

    People are split into partitions by their number. Everybody is in one partition, with all of
    their groups and all of their rows, so that rows above a person's limit are dropped once. A
    reduction is a function of a platform and of the people of a partition, and tables add.
    """

    def sum_tables(
        self,
        membership: Membership,
        reduce: Callable[[Platform, Membership], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        """Return the sum of the tables of all partitions.

        `wanted` names the columns they read of a log.
        """
        ...

    def total_by_key(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        """Return the sum for tables that compare rows of different people: those of one `key`.

        Rows are read by person, and exchanged once more by their key before they are reduced.
        """
        ...


@dataclass(frozen=True)
class AuditContext:
    """Sources from which a kind of audit may read."""

    platform: Platform
    engine: Engine
    balances: Balances | None = None
    journal: Journal | None = None


def in_process_context(
    platform: Platform, *, balances: Balances | None = None, journal: Journal | None = None
) -> AuditContext:
    """Return the context of an audit that reads people in this process."""
    return AuditContext(platform, InProcessEngine(platform), balances, journal)
