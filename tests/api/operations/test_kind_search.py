"""Search of a kind of a package: it finds what would fail after the payment."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from api.operations.sensitivity.kind_search import search_kind
from openapi.kinds.packages import installed

EXAMPLE = Path(__file__).parents[3] / "docs/examples/share-above"


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The platform kind of the example's package."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    installed.cache_clear()
    yield import_module("share_above.platform_half").KIND
    monkeypatch.undo()
    installed.cache_clear()


def test_a_release_that_does_not_fit_its_contract_ends_the_search(kind: Any) -> None:
    assert next(search_kind(kind, worlds=0, seed=1)).claimed

    class WithoutGroups(type(kind.half)):  # type: ignore[misc]
        def present(self, *facts: Any) -> dict[str, Any]:
            found: dict[str, Any] = super().present(*facts)
            del found["groups"]
            return found

    with pytest.raises(ValidationError, match="groups"):
        next(search_kind(replace(kind, half=WithoutGroups()), worlds=0, seed=1))


def test_a_memory_that_is_no_number_ends_the_search(kind: Any) -> None:
    class Endless(type(kind.half)):  # type: ignore[misc]
        def held_bytes(self, *_: Any) -> None:
            return None

    with pytest.raises(TypeError, match="held_bytes"):
        next(search_kind(replace(kind, half=Endless()), worlds=0, seed=1))
