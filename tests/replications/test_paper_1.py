"""The replication page says what its command prints."""

from typing import Any

from auditor_client.charts.chart import svg
from replications.paper_1 import figures
from replications.paper_1.figure_3 import EXACT, EXACT_BARE, LEMMA, RANGES, THEOREM, figure_3


def test_the_page_has_the_numbers_of_the_example() -> None:
    page = figures.PAGE.read_text(encoding="utf-8")
    lines = list(figures.example(["known"]))
    assert "| Theorem 1, with privacy | 1,879 | 1,879 |" in lines
    assert "| increase, of the example | 4.17× | 4.17× |" in lines
    for line in lines:
        assert line in page


def test_the_page_has_the_figure_and_a_row_per_point() -> None:
    page = figures.PAGE.read_text(encoding="utf-8")
    assert f"]({figures.FIGURE.name})" in page
    assert figures.FIGURE.read_text(encoding="utf-8").startswith("<svg")
    for name, values in RANGES.items():
        for value in values:
            assert f"| {name} | {value:g} |" in page


def rows() -> list[dict[str, Any]]:
    people = {THEOREM: 1879, LEMMA: 450, EXACT: 75, EXACT_BARE: 66}
    return [
        {"parameter": name, "value": value, **people}
        for name, values in RANGES.items()
        for value in values
    ]


def test_figure_3_shows_the_papers_factor_and_ours() -> None:
    chart = figure_3(rows())
    drawn = svg(chart)
    for words in ("paper (Lemma 5.3)", "exact (no privacy)", "people per group", "bins"):
        assert words in drawn
    assert "close to 4" in chart.to_dict()["description"]
