"""Charts for regulators, in the style of `charts`: spending, limits and refusals."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

import altair as alt

from auditor_client.charts.chart import WIDTH, Chart, chart_of, finish
from auditor_client.oversight.client import Dossier
from openapi.resources import Charge, Refusal

DARK, LIGHT = "#333333", "#bbbbbb"


def spending_chart(dossier: Dossier, currency: str) -> Chart:
    """Chart the charges of each week of the quarter, in one currency."""
    weeks = _weeks(dossier)
    spent = dict.fromkeys(weeks, Decimal(0))
    for charge in _counted(dossier.charges):
        if charge.currency == currency:
            spent[_monday(charge.charged_at.date())] += charge.debit
    rows = [{"week": str(week), "spent": float(amount)} for week, amount in spent.items()]
    bars = (
        chart_of(rows)
        .mark_bar(color=DARK)
        .encode(
            x=alt.X("week:O", title="week beginning", axis=alt.Axis(labelAngle=-45)),
            y=alt.Y("spent:Q", title=f"{currency} charged"),
        )
    )
    total = sum(spent.values())
    words = f"{currency} charged per week of {dossier.quarter}, {total:f} in all."
    return finish(bars.properties(width=WIDTH, height=180), words)


def mandate_chart(dossier: Dossier) -> Chart:
    """Chart the spent part of each mandate's limit: in the quarter, and at other times."""
    within = dict[str, Decimal]()
    for charge in _counted(dossier.charges):
        within[charge.mandate_id] = within.get(charge.mandate_id, Decimal(0)) + charge.debit
    rows = []
    for name, mandate in dossier.mandates():
        whole = mandate.lifetime_limit or mandate.limit
        now = within.get(mandate.id, Decimal(0))
        label = f"{name[:60]} (…{mandate.id[-4:]})"  # two may have one purpose
        parts = {"in this quarter": now, "at other times": mandate.spent - now}
        rows += [
            {"mandate": label, "when": when, "share": float(amount / whole), "order": order}
            for order, (when, amount) in enumerate(parts.items())
        ]
    names = list(dict.fromkeys(str(row["mandate"]) for row in rows))
    colour = alt.Color(
        "when:N",
        scale=alt.Scale(domain=["in this quarter", "at other times"], range=[DARK, LIGHT]),
    )
    bars = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q",
                title="spent share of the limit",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%"),
            ),
            y=alt.Y("mandate:N", title=None, sort=names, axis=alt.Axis(labelLimit=300)),
            color=colour,
            order=alt.Order("order:Q"),
        )
    )
    words = f"Share of the limit spent, for each of {len(names)} mandates."
    return finish(bars.properties(width=WIDTH - 240, height=alt.Step(26)), words)


def refusal_chart(refusals: Sequence[Refusal]) -> Chart:
    """Chart the number of refusals by reason."""
    found = Counter(refusal.code for refusal in refusals)
    rows = [{"code": code, "count": count} for code, count in found.most_common()]
    most = max(found.values())
    ticks = list(range(0, most + 1, -(-most // 8)))
    bars = (
        chart_of(rows)
        .mark_bar(color=DARK)
        .encode(
            x=alt.X("count:Q", title="requests refused", axis=alt.Axis(format="d", values=ticks)),
            y=alt.Y("code:N", title=None, sort=[code for code, _ in found.most_common()]),
        )
    )
    words = "Refused requests, by reason: " + ", ".join(f"{c} {n}" for c, n in found.most_common())
    return finish(bars.properties(width=WIDTH - 160, height=alt.Step(26)), words)


def _counted(charges: Sequence[Charge]) -> list[Charge]:
    return [charge for charge in charges if not charge.refunded]


def _weeks(dossier: Dossier) -> list[date]:
    first, last = dossier.quarter.since.date(), dossier.quarter.until.date()
    monday = _monday(first)
    return [monday + timedelta(weeks=n) for n in range(15) if monday + timedelta(weeks=n) < last]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
