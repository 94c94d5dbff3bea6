"""Packages that add kinds of audit: their digests, and the packages that this service admits.

A package is code of a third party that reads people. The service loads none of it before its
operator has checked it (`platform-auditor kinds check`), and only while its files are unchanged.
"""

import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import Distribution, EntryPoint
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from sqlmodel import select

from api.db import KindCheckRow, Store
from openapi.kinds.packages import CONTRACT_GROUP, PLATFORM_GROUP, PackageError, admit, installed
from openapi.kinds.registry import BUILT_IN

log = logging.getLogger(__name__)

# Files written by installers, which differ between machines.
_OF_INSTALLERS = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}


@dataclass(frozen=True)
class Package:
    """Package of one kind: name, version, and the digest of all its files."""

    kind: str
    package: str
    version: str
    digest: str

    @property
    def facts(self) -> dict[str, str]:
        """Return the fields of the package in a ledger entry."""
        return asdict(self)


def installed_package(kind: str) -> Package:
    """Return the package that adds a kind; raise `PackageError` if none can.

    Nothing of the package is imported.
    """
    if kind in BUILT_IN:
        raise PackageError(f"{kind} is a built-in kind, which no package can add.")
    halves = [installed(group).get(kind) for group in (CONTRACT_GROUP, PLATFORM_GROUP)]
    points = [point for point in halves if point is not None]
    if len(points) < len(halves):
        raise PackageError(
            f"No installed package adds a kind {kind!r} under both {CONTRACT_GROUP} and"
            f" {PLATFORM_GROUP}"
        )
    if any(point.dist is None for point in points):
        raise PackageError(f"The package of {kind!r} has no metadata.")
    distributions = {point.dist.name: point.dist for point in points if point.dist}
    if len(distributions) > 1:
        raise PackageError(
            f"The contract and the platform half of {kind!r} are in two packages:"
            f" {', '.join(sorted(distributions))}"
        )
    [distribution] = distributions.values()
    return Package(kind, distribution.name, distribution.version, _digest(distribution, points))


def admit_checked(store: Store) -> tuple[Package, ...]:
    """Admit the kinds whose package was checked and is unchanged, and return these packages.

    All others are logged. The other kinds of this process are the built-in ones.
    """
    names = sorted(installed(PLATFORM_GROUP))
    with store.read() as session:
        rows = session.exec(select(KindCheckRow)).all() if names else []
    checked = {row.kind: row.digest for row in rows}
    found = tuple(package for name in names if (package := _admissible(name, checked.get(name))))
    admit([package.kind for package in found])
    return found


def _admissible(name: str, checked: str | None) -> Package | None:
    try:
        package = installed_package(name)
    except PackageError as error:
        log.warning("kind.refused", extra={"reason": f"{name}: {error}"})
        return None
    if package.digest == checked:
        return package
    changed = "was not checked" if checked is None else "changed since the check"
    advice = f"run: platform-auditor kinds check {name}"
    log.warning("kind.refused", extra={"reason": f"{name}: its package {changed}; {advice}"})
    return None


def _digest(distribution: Distribution, points: list[EntryPoint]) -> str:
    """Return the digest of the names and bytes of all files of a package."""
    files = {name: path for name, path in _files(distribution, points) if path.is_file()}
    if not files:
        raise PackageError(f"The package {distribution.name} has no files.")
    whole = sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _files(distribution: Distribution, points: list[EntryPoint]) -> Iterator[tuple[str, Path]]:
    """Iterate over the installed files, and over those of the modules if the install is
    editable.
    """
    for file in distribution.files or ():
        if file.name not in _OF_INSTALLERS and "__pycache__" not in file.parts:
            yield str(file), Path(str(distribution.locate_file(file)))
    for point in points:
        top = point.module.partition(".")[0]
        spec = find_spec(top)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for path in Path(folder).rglob("*"):
                if "__pycache__" not in path.parts:
                    yield str(PurePosixPath(top, path.relative_to(folder).as_posix())), path
        if spec and spec.origin and not spec.submodule_search_locations:
            yield f"{top}.py", Path(spec.origin)
