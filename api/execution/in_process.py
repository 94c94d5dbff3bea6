"""One partition with everybody in it, in this process."""

from collections.abc import Callable
from dataclasses import dataclass

from api.platforms.interfaces import Columns, Platform, Wanted
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership


@dataclass(frozen=True)
class InProcess:
    platform: Platform

    def total(
        self,
        membership: Membership,
        reduce: Callable[[Platform, Membership], Table],
        wanted: Wanted | None = None,
    ) -> Table:
        return reduce(self.platform, membership)

    def compared(
        self,
        membership: Membership,
        read: Callable[[Platform, Membership], Columns],
        key: str,
        reduce: Callable[[Columns], Table],
        wanted: Wanted | None = None,
    ) -> Table:
        return reduce(read(self.platform, membership))
