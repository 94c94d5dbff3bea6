"""Kinds of audit that installed packages add by entry points.

A package names its kind in three groups, one for each half and one for the contract. Its modules
are imported at the first use of the kind, and only those of the requested group: the SDK never
imports a platform half. A broken package is reported in the log and skipped.

The service admits only the kinds whose package its operator has checked (`admit`).
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

CONTRACT_GROUP = "platform_auditor.contracts"
PLATFORM_GROUP = "platform_auditor.platform_kinds"
AUDITOR_GROUP = "platform_auditor.auditor_kinds"

Half = TypeVar("Half")
log = logging.getLogger("platform_auditor.kinds")


class PackageError(Exception):
    """A package does not add the kind that its entry point names."""


class AllowedKinds:
    """Kinds that this process accepts from packages (default: all installed ones)."""

    def __init__(self) -> None:
        self.names: frozenset[str] | None = None

    def allows(self, name: str) -> bool:
        """Return whether a kind of this name may be loaded."""
        return self.names is None or name in self.names


_ADMISSION = AllowedKinds()


def admit(names: Collection[str] | None) -> None:
    """Accept only these kinds from packages from now on (None: all installed ones)."""
    _ADMISSION.names = None if names is None else frozenset(names)


@cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name of kind. A name that two packages use is
    skipped.
    """
    found: dict[str, EntryPoint] = {}
    twice: set[str] = set()
    for point in entry_points(group=group):
        known = found.setdefault(point.name, point)
        if known.value != point.value:
            twice.add(point.name)
    for name in sorted(twice):
        log.warning("Kind %r is skipped, because two packages add it. Uninstall one of them.", name)
        del found[name]
    return found


class PackageKinds(Generic[Half]):
    """One half, or the contracts, of the kinds that packages add.

    `taken` are names that no package may use: those of the built-in kinds.
    """

    def __init__(self, group: str, half: type[Half], taken: Collection[str]) -> None:
        self._group, self._half, self._taken = group, half, frozenset(taken)
        self._loaded: dict[str, Half | None] = {}

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the kinds that load."""
        return (name for name in self._names() if self.get(name) is not None)

    def get(self, name: str) -> Half | None:
        """Return the half of a kind; None if no package adds it, or the package is broken."""
        if name not in self._names():
            return None
        if name not in self._loaded:
            self._loaded[name] = self._load(installed(self._group)[name])
        return self._loaded[name]

    def _names(self) -> list[str]:
        names = installed(self._group)
        return [name for name in names if name not in self._taken and _ADMISSION.allows(name)]

    def _load(self, point: EntryPoint) -> Half | None:
        try:
            return self._read(point)
        except (Exception, SystemExit) as error:
            package = point.dist.name if point.dist else point.value
            reason = f"{type(error).__name__}: {error}"
            log.warning("Kind %r of package %s is skipped: %s", point.name, package, reason)
            return None

    def _read(self, point: EntryPoint) -> Half:
        found = point.load()
        if not isinstance(found, self._half):
            raise PackageError(f"{point.value} is not a {self._half.__name__}")
        contract: Any = getattr(found, "contract", found)
        if contract.name != point.name:
            raise PackageError(f"{point.value} is of the kind {contract.name!r}")
        return found
