"""Pictures are what the code says, and the committed one is what is drawn now."""

import math
import re
from collections.abc import Iterator
from itertools import zip_longest
from xml.etree import ElementTree

import pytest

from api.audits.states import TRANSITIONS
from api.ledger.visibility import TO_ALL
from docs.site.pictures import COMMITTED, ROOT, knowledge, pictures, verdicts
from openapi.kinds.registry import BUILT_IN
from openapi.kinds.two_party import KIND as TWO_PARTY
from openapi.resources import AuditState

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return dict(pictures())


def test_the_committed_picture_is_drawn_from_the_code_of_today(drawn: dict[str, str]) -> None:
    """Fonts differ among machines: places may differ by a few pixels, words and colours not."""
    committed = (ROOT / "docs" / COMMITTED).read_text(encoding="utf-8")
    assert _NUMBER.sub("0", committed) == _NUMBER.sub("0", drawn[COMMITTED])
    for before, now in zip_longest(_numbers(committed), _numbers(drawn[COMMITTED])):
        assert math.isclose(before, now, abs_tol=3)


def test_every_picture_is_svg_that_fetches_nothing_and_is_described(drawn: dict[str, str]) -> None:
    for svg in drawn.values():
        root = ElementTree.fromstring(svg)
        assert root.find("{http://www.w3.org/2000/svg}title") is not None
        assert "prefers-color-scheme" in svg
        assert not re.findall(r"(?:href|src|url)\W+https?:", svg)


def test_the_life_of_an_audit_has_every_state_and_change(drawn: dict[str, str]) -> None:
    svg = drawn["images/life-of-an-audit.svg"]
    words = " ".join(re.findall(r">([^<>]+)</text>", svg))
    assert all(f">{state}</text>" in svg for state in AuditState.__args__)  # type: ignore[attr-defined]
    assert all(cause in words for cause in TRANSITIONS.values())
    assert svg.count("<polygon") == len(TRANSITIONS)


def test_the_verdicts_drawn_are_all_three_in_order() -> None:
    given = [
        verdicts.gap_between(low, high).verdict(verdicts.ALPHA) for low, high in verdicts.LIMITS
    ]
    assert given == ["fair", "unfair", "inconclusive"]


def test_no_cell_of_two_party_audits_is_wider_for_the_platform() -> None:
    """R8: in two-party audits the platform learns no group and no result."""
    ordinary, hidden = (knowledge.rows(BUILT_IN[kind]) for kind in ("score-histogram", "two-party"))
    assert ordinary["each person's group"][1] != knowledge.NO
    assert hidden["each person's group"][1] == knowledge.NO
    assert hidden["the noisy result"][1] != knowledge.YES
    assert "groups" not in TWO_PARTY.release.model_fields
    for name, cells in hidden.items():
        assert cells[0] == ordinary[name][0]


def test_researchers_do_not_see_each_other_s_entries() -> None:
    assert not {"charge", "release", "failure"} & set(TO_ALL)


def test_every_kind_has_a_chart(drawn: dict[str, str]) -> None:
    assert {kind for kind in BUILT_IN if f"images/kinds/{kind}.svg" not in drawn} == set()


def _numbers(svg: str) -> Iterator[float]:
    yield from map(float, _NUMBER.findall(svg))
