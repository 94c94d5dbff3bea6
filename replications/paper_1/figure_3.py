"""Figure 3 of paper 1, with our numbers next to the paper's.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, Figure 3 and Lemma 5.3.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from auditor_client.charts.chart import chart_of, finish
from auditor_client.planning.charts import line_marks
from auditor_client.planning.sample_size import sample_size

Row = dict[str, Any]

# The paper's example, and the values of each parameter while the others are fixed.
EXAMPLE: dict[str, float] = {"alpha": 0.2, "delta": 0.05, "groups": 2, "bins": 100}
RANGES: dict[str, tuple[float, ...]] = {
    "alpha": (0.05, 0.1, 0.2, 0.3, 0.4),
    "delta": (0.001, 0.01, 0.05, 0.1, 0.2),
    "groups": (2, 3, 4, 6, 8),
    "bins": (2, 10, 50, 100, 1000),
}
THEOREM, LEMMA = "Theorem 1", "Lemma 5.1 (no privacy)"
EXACT, EXACT_BARE = "exact", "exact (no privacy)"
_PANEL = {"width": 190, "height": 170}


def figure_3_rows(epsilon: float = 1.0) -> list[Row]:
    """Return people per group for varying parameters of the paper's example, by the paper and by
    us.
    """
    return [
        {"parameter": name, "value": value, **_people({**EXAMPLE, name: value}, epsilon)}
        for name, values in RANGES.items()
        for value in values
    ]


def _people(example: Mapping[str, float], epsilon: float) -> Row:
    alpha, delta = example["alpha"], example["delta"]
    groups, bins = int(example["groups"]), int(example["bins"])
    return {
        THEOREM: sample_size(alpha, delta, groups, bins, epsilon, "theorem-1"),
        LEMMA: sample_size(alpha, delta, groups, bins, epsilon, "lemma-5.1"),
        EXACT: sample_size(alpha, delta, groups, bins, epsilon, "exact"),
        EXACT_BARE: sample_size(alpha, delta, groups, bins, None, "exact"),
    }


def figure_3(rows: Sequence[Row] | None = None) -> Any:
    """Return a chart with the paper's factor for privacy above, and the numbers of people below."""
    found = figure_3_rows() if rows is None else list(rows)
    factors = [_factors(row) for row in found]
    upper = alt.hconcat(*(_panel(factors, name, "times as many people", False) for name in RANGES))
    counts = [_long(row, (THEOREM, LEMMA, EXACT, EXACT_BARE)) for row in found]
    lower = alt.hconcat(*(_panel(counts, name, "people per group", True) for name in RANGES))
    both = alt.vconcat(upper, lower).resolve_scale(
        color="independent", shape="independent", strokeDash="independent"
    )
    words = (
        "Above: how many times as many people an audit needs with privacy as without, by the paper"
        " (close to 4) and by exact tails (close to 1), as alpha, delta, the number of groups and"
        " the number of bins vary. Below: the people per group themselves."
    )
    return finish(both, words)


def _factors(row: Row) -> list[Row]:
    ratios = {
        "paper (Lemma 5.3)": row[THEOREM] / row[LEMMA],
        EXACT: row[EXACT] / row[EXACT_BARE],
    }
    return _long({**row, **ratios}, tuple(ratios))


def _long(row: Row, names: Sequence[str]) -> list[Row]:
    start = {"parameter": row["parameter"], "value": row["value"]}
    return [{**start, "by": name, "y": row[name]} for name in names]


def _panel(rows: Sequence[list[Row]], parameter: str, title: str, log: bool) -> Any:
    flat = [row for some in rows for row in some if row["parameter"] == parameter]
    names = list(dict.fromkeys(row["by"] for row in flat))
    scale = alt.Scale(type="log" if parameter in ("bins", "delta") else "linear", nice=False)
    y = alt.Scale(type="log") if log else alt.Scale(domain=[0, 7])
    base = chart_of(flat).encode(
        x=alt.X("value:Q", title=parameter, scale=scale, axis=alt.Axis(tickCount=4)),
        y=alt.Y("y:Q", title=title, scale=y),
        **line_marks(names),
    )
    return (base.mark_line() + base.mark_point(filled=True, size=45)).properties(**_PANEL)
