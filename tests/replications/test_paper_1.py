"""The replication page says what its command prints."""

from auditor_client.planning.charts import RANGES
from replications.paper_1 import figures


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
