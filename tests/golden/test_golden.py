"""The commands, the receipts and the results are what was last reviewed.

After an intended change, `python -m tests.golden --write` rewrites the files; the diff is reviewed.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from openapi.kinds.registry import BUILT_IN
from tests.golden import committed_files
from tests.golden.help_pages import help_pages
from tests.golden.results import receipts, results

COMMITTED = committed_files()


def test_help_of_every_command_is_unchanged() -> None:
    made = help_pages()
    assert made.keys() == _names("help")
    for name, text in made.items():
        assert text == COMMITTED[name], name


def test_receipt_bytes_are_unchanged() -> None:
    made = receipts()
    assert made.keys() == _names("receipts")
    for name, text in made.items():
        assert text == COMMITTED[name], name


def test_results_are_unchanged(tmp_path: Path) -> None:
    made = results(tmp_path)
    assert made.keys() == _names("results")
    for name, text in made.items():
        assert _same(json.loads(text), json.loads(COMMITTED[name])), name


@pytest.mark.parametrize("folder", ["receipts", "results"])
def test_every_kind_of_audit_is_covered(folder: str) -> None:
    assert _names(folder) == {f"{folder}/{kind}.json" for kind in BUILT_IN}


def _same(made: Any, committed: Any) -> bool:
    """Return whether two documents agree; processors may differ in the last digits of a float."""
    if isinstance(made, float) and isinstance(committed, float):
        return math.isclose(made, committed, rel_tol=1e-9, abs_tol=1e-12)
    if type(made) is not type(committed):
        return False
    if isinstance(made, dict):
        return list(made) == list(committed) and _same([*made.values()], [*committed.values()])
    if isinstance(made, list):
        return len(made) == len(committed) and all(map(_same, made, committed))
    return bool(made == committed)


def _names(folder: str) -> set[str]:
    return {name for name in COMMITTED if name.startswith(f"{folder}/")}
