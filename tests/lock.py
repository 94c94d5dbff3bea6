"""Whether the lock still carries what pyproject.toml asks for: `python -m tests.lock`."""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
# The extras whose code the tests run; Ray is large and comes when it is asked for.
LOCKED = ("server", "two-party", "demographics")


def locked() -> dict[str, set[str]]:
    """Versions by name, from the lines `name==version …` of the lock."""
    versions: dict[str, set[str]] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if line and not line[0].isspace() and "==" in line:
            requirement = Requirement(line.split("\\")[0])
            version = str(requirement.specifier).removeprefix("==")
            versions.setdefault(canonicalize_name(requirement.name), set()).add(version)
    return versions


def asked() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [
        project["project"]["dependencies"],
        *(project["project"]["optional-dependencies"][extra] for extra in LOCKED),
        project["dependency-groups"]["dev"],
    ]
    return [Requirement(text) for texts in lists for text in texts]


def drift() -> list[str]:
    """Requirements that the lock does not satisfy."""
    versions = locked()
    return [
        str(requirement)
        for requirement in asked()
        if not any(
            requirement.specifier.contains(version)
            for version in versions.get(canonicalize_name(requirement.name), ())
        )
    ]


if __name__ == "__main__":
    if missing := drift():
        sys.exit(f"not in requirements.lock: {', '.join(missing)}; run make lock")
