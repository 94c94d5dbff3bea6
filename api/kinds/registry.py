"""Registry of the kinds of audit of this service: the built-in ones, and those of admitted
packages.

`openapi.kinds.registry` lists the built-in kinds for all packages; their halves are found by name.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

from api.kinds.protocol import AudienceFacts, Kind, PayingMandate, PlatformKind
from api.platforms.interfaces import Platform
from openapi.kinds.packages import PLATFORM_GROUP, PackageKinds
from openapi.kinds.registry import BUILT_IN, CONTRACTS

__all__ = [
    "KINDS",
    "AudienceFacts",
    "Kind",
    "PayingMandate",
    "is_third_party",
    "kinds_outside_workers",
    "offered",
    "platform_kind",
    "runs_in_worker",
]


def _built_in(module: str) -> PlatformKind:
    found: PlatformKind = import_module(f"api.kinds.{module}").KIND
    return found


_BUILT_IN = {name: _built_in(contract.module) for name, contract in BUILT_IN.items()}
_ADDED = PackageKinds(PLATFORM_GROUP, PlatformKind, BUILT_IN)


class PlatformHalves(Mapping[str, Kind]):
    """Platform halves by name of kind. A kind of a package needs its contract as well."""

    def __getitem__(self, name: str) -> Kind:
        """Return the half of this name; raise `KeyError` if this service does not run it."""
        return platform_kind(name).half

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, built-in kinds first."""
        yield from _BUILT_IN
        yield from (name for name in _ADDED if name in CONTRACTS)

    def __len__(self) -> int:
        """Return the number of kinds."""
        return sum(1 for _ in self)


KINDS: Mapping[str, Kind] = PlatformHalves()


def platform_kind(name: str) -> PlatformKind:
    """Return a kind with its contract; raise `KeyError` if this service does not run it."""
    found = _BUILT_IN.get(name) or (_ADDED.get(name) if name in CONTRACTS else None)
    if found is None:
        raise KeyError(name)
    return found


def is_third_party(name: str) -> bool:
    """Return whether a package adds the kind, so that its bounds are assumed to hold."""
    return name not in BUILT_IN


def kinds_outside_workers() -> tuple[str, ...]:
    """Return the kinds whose audits no worker runs."""
    return tuple(name for name in KINDS if not platform_kind(name).runs_in_worker)


def runs_in_worker(name: str) -> bool:
    """Return whether a worker runs audits of this kind; also true if the kind is not enabled."""
    return name not in kinds_outside_workers()


def offered(platform: Platform) -> list[str]:
    """Return the kinds that this platform's capabilities support."""
    return [name for name, kind in KINDS.items() if kind.offered_by(platform)]
