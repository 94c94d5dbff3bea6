"""Whether the locks still carry what pyproject.toml asks for: `python -m tests.lock`."""

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
Versions = dict[str, set[str]]


@dataclass(frozen=True)
class Lock:
    """One lock file, and the parts of pyproject.toml that it must hold, as in `make lock`."""

    file: str
    extras: tuple[str, ...]
    group: str

    def versions(self) -> Versions:
        """Return versions by name, from the lines `name==version …`."""
        versions: Versions = {}
        for line in (ROOT / self.file).read_text().splitlines():
            if line and not line[0].isspace() and "==" in line:
                requirement = Requirement(line.split("\\")[0])
                version = str(requirement.specifier).removeprefix("==")
                versions.setdefault(canonicalize_name(requirement.name), set()).add(version)
        return versions

    def requirements(self) -> Iterator[Requirement]:
        """Yield what pyproject.toml asks for."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())
        extras = project["project"]["optional-dependencies"]
        texts = [
            *project["project"]["dependencies"],
            *(text for extra in self.extras for text in extras[extra]),
            *_members(project["dependency-groups"], self.group),
        ]
        return map(Requirement, texts)


FULL = Lock(
    "requirements.lock", ("server", "two-party", "demographics", "ray", "onnx", "traces"), "dev"
)
DEMO = Lock("requirements-demo.lock", ("server", "two-party"), "build")


def drift() -> list[str]:
    """Return requirements that a lock does not satisfy, and versions of the demo's lock alone."""
    full = FULL.versions()
    missing = {
        str(requirement)
        for lock in (FULL, DEMO)
        for requirement in lock.requirements()
        if not _is_satisfied(requirement, lock.versions())
    }
    differing = {
        f"{name}=={version}"
        for name, versions in DEMO.versions().items()
        for version in versions - full.get(name, set())
    }
    return sorted(missing | differing)


def _members(groups: dict[str, Any], group: str) -> Iterator[str]:
    for member in groups[group]:
        if isinstance(member, str):
            yield member
        else:
            yield from _members(groups, member["include-group"])


def _is_satisfied(requirement: Requirement, versions: Versions) -> bool:
    found = versions.get(canonicalize_name(requirement.name), ())
    return any(requirement.specifier.contains(version) for version in found)


if __name__ == "__main__":
    if missing := drift():
        sys.exit(f"not in step with the locks: {', '.join(missing)}; run make lock")
