"""Execution in this process: one partition with everybody in it."""

from collections.abc import Callable
from dataclasses import dataclass

from api.platforms.interfaces import Columns, LogColumns, Platform
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership


@dataclass(frozen=True)
class InProcessEngine:
    platform: Platform

    def sum_tables(
        self,
        membership: Membership,
        reduce: Callable[[Platform, Membership], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        return reduce(self.platform, membership)

    def total_by_key(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: LogColumns | None = None,
    ) -> Table:
        return reduce(read(self.platform, membership))
