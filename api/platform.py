"""Interface between the service and a platform: everything that an adapter needs.

Adapters import from here. The service itself imports the packages behind this module.
"""

from api.platforms.interfaces import (
    NOBODY,
    VIEWER,
    Columns,
    Directory,
    Log,
    LogColumns,
    LogFragments,
    Logs,
    People,
    Persons,
    Platform,
    Policies,
    Ranking,
    Scores,
    Traffic,
)

__all__ = [
    "NOBODY",
    "VIEWER",
    "Columns",
    "Directory",
    "Log",
    "LogColumns",
    "LogFragments",
    "Logs",
    "People",
    "Persons",
    "Platform",
    "Policies",
    "Ranking",
    "Scores",
    "Traffic",
]
