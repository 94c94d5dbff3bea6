"""The order of imports on the pages is the one that `lint-imports` enforces."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = {
    contract["containers"][0]: contract["layers"]
    for contract in PROJECT["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
}


@pytest.mark.parametrize("page", ["docs/explanation/architecture.md", "{}/README.md"])
@pytest.mark.parametrize("package", sorted({"api", "auditor_client"} & LAYERS.keys()))
def test_the_order_of_imports_is_the_enforced_one(page: str, package: str) -> None:
    words = " ".join((ROOT / page.format(package)).read_text(encoding="utf-8").split())
    assert ", ".join(reversed(LAYERS[package])) in words
