"""Every path, module and command that the documentation names exists.

Decisions in `docs/adr` are history: they may name what has moved since.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = "api|auditor_client|bench|openapi|platform_sim|privacy|replications|tests|validation"
_PATH = re.compile(rf"(?<![\w./-])(?:{PACKAGES})/[\w<>*./-]*[\w>*/]")
_COMMAND = re.compile(rf"python -m ((?:{PACKAGES})[\w.]*\w)")
_NAME = re.compile(rf"`((?:{PACKAGES})\.(?!json)[\w.]*\w)(?:\(\))?`")
_BARE = re.compile(r"`(\w+\.py)`")
_FOLDER = re.compile(r"`([\w<>*]+/[\w<>*/.]*)`")
FOLDERS = tuple(ROOT / name for name in PACKAGES.split("|"))
# Files that a reader writes.
EXAMPLES = {"adapter.py"}


def pages() -> list[Path]:
    """Return every page but decisions, with the README of each folder."""
    docs = [page for page in (ROOT / "docs").rglob("*.md") if "adr" not in page.parts]
    folders = [page for name in PACKAGES.split("|") for page in (ROOT / name).rglob("README.md")]
    ours = [page for page in folders if "vendor" not in page.parts]
    return sorted([*docs, *ours, ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def by_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_paths_exist(page: Path) -> None:
    missing = [path for path in _PATH.findall(page.read_text()) if not _found(ROOT, path)]
    assert not missing


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_modules_and_names_exist(page: Path) -> None:
    assert not list(_unknown_names(page.read_text()))


@pytest.mark.parametrize("page", pages(), ids=by_name)
def test_files_named_without_a_folder_exist(page: Path) -> None:
    """A page of a folder names files below it; any other page may name files of every package."""
    below = (page.parent,) if page.parent.name in PACKAGES.split("|") else FOLDERS
    known = set[str]().union(*map(_python_files, below))
    named = set(_BARE.findall(page.read_text())) - EXAMPLES
    assert named <= known


@pytest.mark.parametrize("page", [p for p in pages() if p.name == "README.md"], ids=by_name)
def test_folders_in_a_folder_s_own_page_exist(page: Path) -> None:
    named = _FOLDER.findall(page.read_text())
    assert not [path for path in named if not any(_found(at, path) for at in (page.parent, ROOT))]


@cache
def _python_files(folder: Path) -> frozenset[str]:
    return frozenset(path.name for path in folder.rglob("*.py"))


def _found(folder: Path, path: str) -> bool:
    """Return whether a path exists; `<kind>` stands for any one name."""
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    return any(folder.glob(pattern))


def _unknown_names(text: str) -> Iterator[str]:
    yield from (name for name in _COMMAND.findall(text) if find_spec(name) is None)
    for name in _NAME.findall(text):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            yield name


_PAGE = re.compile(r"(?<![\w/.])docs/[\w/.-]+\.(?:md|svg|png|ipynb)")
_OURS = ("*.py", "*.html", "*.js", "*.toml", "*.yml", "*.yaml", "Containerfile", "Makefile")


def _sources() -> Iterator[Path]:
    """Yield every file of the repository that is no page, and may name one."""
    for folder in (*FOLDERS, ROOT / "deploy", ROOT / ".ci"):
        for pattern in _OURS:
            yield from folder.rglob(pattern)
    yield from (ROOT / name for name in ("Makefile", "pyproject.toml", "mkdocs.yml"))


def test_pages_that_code_names_exist() -> None:
    this = Path(__file__)
    missing = {
        f"{source.relative_to(ROOT)}: {page}"
        for source in _sources()
        if source != this
        for page in _PAGE.findall(source.read_text(encoding="utf-8"))
        if not (ROOT / page).exists()
    }
    assert not missing
