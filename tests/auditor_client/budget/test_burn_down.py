"""Burn-down: what remained at every moment, by each way in which a limit comes back."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from auditor_client import InputError
from auditor_client.budget.burn_down import BurnDown, burn_down
from auditor_client.budget.charts import burn_down_chart, describe_panel
from auditor_client.charts.chart import save
from openapi.resources import Entry
from tests.auditor_client.examples import MANDATE_ID, NOW, mandate
from tests.refusals import refuses

LATER = NOW + timedelta(days=40)
Amounts = list[tuple[int, str, str]]


def entry(kind: str, days: float, charge: int, debit: str = "2", of: str = MANDATE_ID) -> Entry:
    facts: dict[str, Any] = {"charge_id": f"charge_{charge}", "debit": debit}
    if kind == "charge":
        facts["mandate_id"] = of
    return Entry(
        number=charge,
        kind=kind,
        at=NOW + timedelta(days=days),
        auditor_id="auditor_" + "f" * 30,
        facts=facts,
        statement=None,
        leaf="0" * 43 + "=",
    )


def amounts(found: BurnDown) -> Amounts:
    """Days since the beginning, spent, remaining."""
    return [((m.at - NOW).days, f"{m.spent:f}", f"{m.remaining:f}") for m in found.moments]


def of(entries: Sequence[Entry], now: datetime = LATER, **fields: Any) -> BurnDown:
    return burn_down(mandate(valid_from=NOW, **fields), entries, now)


def test_what_is_spent_is_gone() -> None:
    found = of([entry("charge", 5, 2, "2.5"), entry("charge", 1, 1), entry("charge", 2, 3, of="x")])
    assert amounts(found) == [
        (0, "0", "20"),
        (1, "2", "18"),
        (5, "4.5", "15.5"),
        (40, "4.5", "15.5"),
    ]
    assert found.buys() == 6
    assert found.buys(Decimal("0.1")) == 155
    assert found.buys(Decimal(16)) == 0


def test_a_refund_gives_back() -> None:
    found = of([entry("charge", 1, 1), entry("refund", 2, 1), entry("charge", 3, 2)])
    assert amounts(found) == [
        (0, "0", "20"),
        (1, "2", "18"),
        (2, "0", "20"),
        (3, "2", "18"),
        (40, "2", "18"),
    ]


def test_a_rolling_limit_comes_back_bit_by_bit() -> None:
    charges = [entry("charge", 1, 1), entry("charge", 20, 2, "3")]
    found = of(charges, renewal={"kind": "rolling", "days": 30}, lifetime_limit="21")
    assert amounts(found) == [
        (0, "0", "20"),
        (1, "2", "18"),
        (20, "5", "15"),
        # By then 2 have come back, but of the lifetime's 21 only 16 are left.
        (31, "5", "16"),
        (40, "5", "16"),
    ]


def test_a_fixed_limit_comes_back_at_once() -> None:
    charges = [entry("charge", 1, 1), entry("charge", 14, 2, "3")]
    found = of(charges, renewal={"kind": "fixed", "days": 15}, lifetime_limit="100")
    assert amounts(found) == [
        (0, "0", "20"),
        (1, "2", "18"),
        (14, "5", "15"),
        (15, "5", "20"),
        (30, "5", "20"),
        (40, "5", "20"),
    ]


def test_clocks_may_differ_and_nothing_may_be_spent_yet() -> None:
    found = of([], now=NOW - timedelta(seconds=1))
    assert amounts(found) == [(0, "0", "20")]
    assert found.buys() is None
    assert found.buys(Decimal(0)) is None
    ahead = of([entry("charge", 1, 1)], now=NOW)
    assert amounts(ahead)[-1] == (1, "2", "18")


def test_the_chart_says_what_is_left_and_can_be_read_without_colour(tmp_path: Path) -> None:
    first = of([entry("charge", 1, 1), entry("charge", 3, 2)])
    second = of([], purpose="<b>Housing</b>", epsilon_limit=None, rho_limit="2", currency="rho")
    assert describe_panel(first) == (
        "Mandate “test”: 4 epsilon spent since 2026-05-04, 16 remaining: buys 8 more audits like"
        " the last (2 each)."
    )
    assert describe_panel(first, Decimal(10)).endswith("buys 1 more audit like this (10 each).")
    assert describe_panel(second).endswith("0 rho spent since 2026-05-04, 2 remaining.")
    spec = burn_down_chart([first, second]).to_dict()
    assert spec["description"] == f"{describe_panel(first)} {describe_panel(second)}"
    lines = spec["vconcat"][0]["layer"][1]["encoding"]
    assert {"color", "strokeDash"} <= lines.keys()
    for name, starts in (("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.html", b"<!DOCTYPE")):
        written = save(burn_down_chart([first]), tmp_path / name).read_bytes()
        assert written.lstrip().startswith(starts)
        assert b"https://cdn" not in written
    drawn = (tmp_path / "a.svg").read_text()
    assert "8 more audits like the latest" in drawn
    assert f'role="img" aria-label="{describe_panel(first)}"' in drawn
    with refuses(InputError, "chart-format", ".pdf"):
        save(burn_down_chart([first]), tmp_path / "a.pdf")
