"""The replication page says what its command printed, and that is what the paper found."""

import re

from replications.paper_3 import figures

PAGE = figures.PAGE.read_text(encoding="utf-8")


def _column(title: str, number: int) -> list[float]:
    """A column of the table of bins under a title."""
    lines = PAGE.split(f"### {title}")[1].split("###")[0].splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith("| 0.")]
    return [float(row[number]) for row in rows]


def test_the_page_has_the_figures() -> None:
    for number in (4, 5, 6, 7):
        path = figures.figure(number)
        assert f"]({path.name})" in PAGE
        assert path.read_text(encoding="utf-8").startswith("<svg")


def test_men_achieve_more_at_equal_scores_in_instajob_and_less_in_pymk() -> None:
    men_more = _column("InstaJob", 3)
    assert len(men_more) >= 9
    assert min(men_more) > 0
    assert max(_column("PYMK", 3)) < 0


def test_limits_of_the_release_hold_the_truth_as_often_as_they_should() -> None:
    held = re.findall(r"Limits of the release contain the true value in (\d+) of (\d+) bins", PAGE)
    assert len(held) == 2
    # 19 of 20 are to be expected; fewer than 15 of 20 by chance once in 3,000.
    assert sum(int(hits) for hits, _ in held) >= 15


def test_correction_gives_back_what_the_bias_took() -> None:
    table = PAGE.split("### The size of the bias")[1].split("### Whose")[0]
    rows = dict(re.findall(r"\| (men|women) \|.*?\| ([+-][\d.]+) % \|", table))
    true = dict(re.findall(r"\| (men|women) \|.* ([+-][\d.]+) % \|\n", table))
    assert float(rows["men"]) > 3
    for group, change in rows.items():
        assert abs(float(change) - float(true[group])) < 3
