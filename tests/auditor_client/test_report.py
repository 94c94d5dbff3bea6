import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from auditor_client import charts
from auditor_client.measured import measured_gaps, measured_shares
from openapi.models import Levels
from tests.auditor_client.examples import finished

FAIR = {"g0": [250, 250, 0], "g1": [252, 248, 0]}
UNFAIR = {"g0": [480, 20, 0], "g1": [30, 470, 0]}
FEW = {"g0": [5, 4, 0], "g1": [3, 6, 0]}
NASTY = '<script>alert("x")</script>'


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


@pytest.mark.parametrize(
    ("counts", "verdict"), [(FAIR, "Fair:"), (UNFAIR, "Unfair:"), (FEW, "Inconclusive:")]
)
def test_the_verdict_is_in_words(
    tmp_path: Path, counts: dict[str, list[int]], verdict: str
) -> None:
    words = " ".join(read(finished(counts).report(tmp_path / "r.html")).words)
    assert verdict in words
    assert "95 %" in words
    assert "Software engineer" in words
    assert "ε = 1.25" in words
    assert "ε = 2.5" in words


def test_nothing_is_loaded_and_nothing_runs(tmp_path: Path) -> None:
    path = finished(FAIR).report(tmp_path / "r.html")
    reader = read(path)
    assert not {"script", "link", "img", "iframe", "object"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name in ("src", "href", "xlink:href")]
    assert "url(" not in path.read_text(encoding="utf-8")


def test_what_outsiders_wrote_is_only_text(tmp_path: Path) -> None:
    audit = finished(UNFAIR, {"g0": NASTY, "g1": "a\" onload='x' &"}, title=f"{NASTY}<img src=x>")
    path = audit.report(tmp_path / "r.html")
    reader = read(path)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert "onload" not in {name for name, _ in reader.attributes}
    assert any(NASTY in words for words in reader.words)


def test_every_picture_has_words(tmp_path: Path) -> None:
    reader = read(finished(FAIR).report(tmp_path / "r.html"))
    labels = [value for name, value in reader.attributes if name == "aria-label"]
    assert reader.tags.count("figure") == 3
    assert any("Noisy shares of man, woman" in (label or "") for label in labels)


def test_the_receipt_and_all_counts_are_in_it(tmp_path: Path) -> None:
    audit = finished(FAIR)
    text = audit.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert audit.receipt in text
    assert re.search(r"outside</th><td>0</td><td>0</td>", text)


@pytest.mark.parametrize("groups", [2, 6])
@pytest.mark.parametrize("bins", [4, 60])
def test_charts_are_drawn_for_few_and_for_many(groups: int, bins: int) -> None:
    counts = {f"g{number}": [10] * bins + [0] for number in range(groups)}
    names = {label: f"name {label}" for label in counts}
    audit = finished(counts, names)
    shares = measured_shares(audit)
    drawn = charts.svg(charts.share_chart(audit, shares))
    assert drawn.startswith("<svg")
    assert all(f"name {label}" in drawn for label in counts)
    assert charts.svg(charts.gap_chart(audit, shares, 0.2)).startswith("<svg")


def test_charts_of_levels_are_drawn() -> None:
    audit = finished(FAIR, bins=Levels(levels=[1, 5]))
    specification = charts.share_chart(audit, measured_shares(audit)).to_dict()
    assert '"domain": [-1.0, 7.0]' in json.dumps(specification)


def test_shares_are_inside_their_limits() -> None:
    audit = finished(UNFAIR)
    shares = measured_shares(audit)
    assert all(share.low <= max(share.share, 0) <= share.high for share in shares)
    assert len(shares) == 6
    assert max(measured_gaps(shares)) == pytest.approx(0.9)
