"""The page of figures is the file of figures."""

import json

from bench.harness import MARK, PAGE, RESULTS, in_step


def test_the_page_shows_what_was_measured() -> None:
    page, results = PAGE.read_text(), json.loads(RESULTS.read_text())
    assert page.count(MARK) == 2
    assert in_step(page, results) == page
    assert all(f"| {each['name']} |" in page for each in results)


def test_every_figure_says_how_it_was_taken() -> None:
    for each in json.loads(RESULTS.read_text()):
        assert each["command"].startswith("python -m bench")
        assert each["ours"] > 0
        assert each["floor_or_peer"] > 0
