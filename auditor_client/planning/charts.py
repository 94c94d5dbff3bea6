"""Charts of planning: the paper's Figure 3 with ours beside it, and curves of power.

Lines differ by dash and symbol as well as by colour, so that they can be told in black and white.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, Figure 3 and Lemma 5.3.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, SHAPES, chart_of, finish
from auditor_client.planning.inverse import power_at
from auditor_client.planning.power_simulation import SizeKind
from auditor_client.planning.sample_size import sample_size
from auditor_client.stats.noise import Epsilon

Row = dict[str, Any]

# The paper's example, and the values that each parameter takes while the others stay there.
EXAMPLE: dict[str, float] = {"alpha": 0.2, "delta": 0.05, "groups": 2, "bins": 100}
RANGES: dict[str, tuple[float, ...]] = {
    "alpha": (0.05, 0.1, 0.2, 0.3, 0.4),
    "delta": (0.001, 0.01, 0.05, 0.1, 0.2),
    "groups": (2, 3, 4, 6, 8),
    "bins": (2, 10, 50, 100, 1000),
}
THEOREM, LEMMA = "Theorem 1", "Lemma 5.1 (no privacy)"
EXACT, EXACT_BARE = "exact", "exact (no privacy)"
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
_PANEL = {"width": 190, "height": 170}


def figure_3_rows(epsilon: float = 1.0) -> list[Row]:
    """People per group as each parameter of the paper's example varies, by the paper and by us."""
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
    """Above, the factor that privacy costs, as in the paper; below, the people themselves."""
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
        **_told_apart(names),
    )
    return (base.mark_line() + base.mark_point(filled=True, size=45)).properties(**_PANEL)


def _told_apart(names: Sequence[str]) -> dict[str, Any]:
    few = len(names)
    return {
        "color": alt.Color("by:N", scale=alt.Scale(domain=names, range=COLOURS[:few])),
        "shape": alt.Shape("by:N", scale=alt.Scale(domain=names, range=SHAPES[:few])),
        "strokeDash": alt.StrokeDash("by:N", scale=alt.Scale(domain=names, range=_DASHES[:few])),
    }


def power_curve(
    people: Sequence[int],
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    sizes: SizeKind = "known",
    power: float = 0.8,
) -> Any:
    """How likely each verdict is as people are added, on a fair platform and on one at 2·alpha."""
    given = (alpha, delta, groups, bins, epsilon, sizes)
    far = min(2 * alpha, 1.0)
    fair, unfair = "fair, if there is no gap", f"unfair, if the gap is {far:g}"
    rows = [
        row
        for n in people
        for row in (
            {"value": n, "by": fair, "y": power_at(n, 0.0, *given).fair},
            {"value": n, "by": unfair, "y": power_at(n, far, *given).unfair},
        )
    ]
    base = chart_of(rows).encode(
        x=alt.X("value:Q", title="people per group", scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("y:Q", title="probability of the verdict", scale=alt.Scale(domain=[0, 1])),
        **_told_apart([fair, unfair]),
    )
    wanted = chart_of([{"power": power}]).mark_rule(strokeDash=[5, 3], color="black")
    layers = base.mark_line() + base.mark_point(filled=True, size=45) + wanted.encode(y="power:Q")
    words = (
        f"The probability that an audit at alpha = {alpha:g} calls a fair platform fair, and one"
        f" with a gap of {far:g} unfair, from {min(people)} to {max(people)} people per group."
    )
    return finish(layers.properties(width=520, height=280), words)
