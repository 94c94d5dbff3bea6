"""Burn-down charts of mandates: the spent amount, the remainder, and the audits it still buys.

The style is that of `charts`. The two lines differ by dash and by the area under them, so that a
reader can distinguish them in black and white.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import altair as alt

from auditor_client.budget.burn_down import BurnDown
from auditor_client.charts.chart import COLOURS, WIDTH, chart_of, finish

REMAINING, SPENT = "remaining", "spent"
_HEIGHT = 150
_LONGEST_TITLE = 90


def burn_down_chart(found: Sequence[BurnDown], debit: Decimal | None = None) -> Any:
    """Return a chart with one panel per mandate; `debit` is the price of one further audit."""
    panels = [_panel(each, debit) for each in found]
    chart = panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=28)
    return finish(chart, " ".join(describe_panel(each, debit) for each in found))


def describe_panel(found: BurnDown, debit: Decimal | None = None) -> str:
    """Return a sentence that describes the panel."""
    mandate, last = found.mandate, found.moments[-1]
    start = (
        f"Mandate “{mandate.purpose}”: {_plain(last.spent)} {mandate.currency} spent since"
        f" {mandate.valid_from:%Y-%m-%d}, {_plain(last.remaining)} remaining"
    )
    return f"{start}{_buys(found, debit)}."


def _buys(found: BurnDown, debit: Decimal | None) -> str:
    number, price = found.buys(debit), found.latest if debit is None else debit
    if number is None or price is None:
        return ""
    like = "like the latest" if debit is None else "like this"
    return f": buys {number} more audit{'' if number == 1 else 's'} {like} ({_plain(price)} each)"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _panel(found: BurnDown, debit: Decimal | None) -> Any:
    mandate, rows = found.mandate, _rows(found)
    top = max(row["amount"] for row in rows) * 1.08 or 1.0
    base = chart_of(rows).encode(
        x=alt.X("at:T", title=None, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=6)),
        y=alt.Y("amount:Q", title=mandate.currency, scale=alt.Scale(domain=[0, top], nice=False)),
    )
    left = alt.datum.what == REMAINING
    area = base.transform_filter(left).mark_area(color="#dddddd", interpolate="step-after")
    names = [REMAINING, SPENT]
    lines = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        color=alt.Color("what:N", scale=alt.Scale(domain=names, range=["black", COLOURS[1]])),
        strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]])),
    )
    return alt.layer(area, lines).properties(
        width=WIDTH, height=_HEIGHT, title=_title(found, debit)
    )


def _title(found: BurnDown, debit: Decimal | None) -> alt.TitleParams:
    purpose = found.mandate.purpose
    short = purpose if len(purpose) <= _LONGEST_TITLE else f"{purpose[: _LONGEST_TITLE - 1]}…"
    left = f"{_plain(found.remaining)} {found.mandate.currency} left{_buys(found, debit)}"
    return alt.TitleParams(short, subtitle=left, anchor="start", subtitleFontSize=13)


def _rows(found: BurnDown) -> list[dict[str, Any]]:
    return [
        {"at": moment.at.isoformat(), "what": what, "amount": float(amount)}
        for moment in found.moments
        for what, amount in ((REMAINING, moment.remaining), (SPENT, moment.spent))
    ]
