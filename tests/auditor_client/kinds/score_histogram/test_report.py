import json
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor_client.charts.chart import svg
from auditor_client.cli.app import app
from auditor_client.fairness.bin_intervals import measured_gaps, measured_shares
from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.analysis import analyse
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.charts import gap_chart, share_chart
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.kinds.study_page import render_study
from auditor_client.reporting.results_document import Registered, Results, StudyFound
from openapi.resources import InclusionProof, Levels
from tests.auditor_client.examples import NOW, audit_of, finished

FAIR = {"g0": [430, 70, 0], "g1": [428, 72, 0]}
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
    ("counts", "verdict"),
    [(FAIR, "Fair within"), (UNFAIR, "Unfair beyond"), (FEW, "Inconclusive at")],
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
    shares = measured_shares(audit.groups())
    drawn = svg(share_chart(audit, shares))
    assert drawn.startswith("<svg")
    assert all(f"name {label}" in drawn for label in counts)
    assert svg(gap_chart(audit, shares, 0.2)).startswith("<svg")


def test_charts_of_levels_are_drawn() -> None:
    audit = finished(FAIR, bins=Levels(levels=[1, 5]))
    specification = share_chart(audit, measured_shares(audit.groups())).to_dict()
    assert '"domain": [-1.0, 7.0]' in json.dumps(specification)


def test_shares_are_inside_their_limits() -> None:
    audit = finished(UNFAIR)
    shares = measured_shares(audit.groups())
    assert all(share.low <= max(share.share, 0) <= share.high for share in shares)
    assert len(shares) == 6
    assert max(measured_gaps(shares)) == pytest.approx(0.9)


def test_metrics_drivers_and_assumptions_are_in_words(tmp_path: Path) -> None:
    audit = finished(UNFAIR)
    path = audit.report(tmp_path / "r.html", selection=MetricSelection(thresholds=(0.5,)))
    words = " ".join(read(path).words)
    for part in (
        "Where the gap comes from",
        "man less woman",
        "Other metrics",
        "For every 100 people of woman",
        "By the four-fifths rule: fails",
        "The paper’s assumptions, checked after the audit",
        "enough people for Theorem 1",
        "auditor analyse receipt.json --alpha 0.2 --delta 0.05 --threshold 0.5",
    ):
        assert part in words, part


def test_pairs_are_named_where_there_are_several(tmp_path: Path) -> None:
    counts = {"g0": [50, 30, 0], "g1": [45, 36, 0], "g2": [20, 60, 0]}
    names = {"g0": "a", "g1": "b", "g2": NASTY}
    path = finished(counts, names).report(tmp_path / "r.html")
    words = " ".join(read(path).words)
    assert "The gap of each pair of groups" in words
    assert "All pairs of groups" in words
    # In words, the pair that was measured furthest apart: a and the last.
    assert f"On average, a scores {(60 / 80 - 30 / 80) / 2:.3f} lower than {NASTY}" in words
    assert "script" not in read(path).tags


def test_the_proof_of_a_receipt_is_in_its_report(tmp_path: Path) -> None:
    audit = finished(FAIR)
    proof = InclusionProof(entry='{"kind":"release"}', number=41, path=[], checkpoint="a head\n")
    file = replace(audit, prove=lambda: proof).save_receipt(tmp_path / "receipt.json")
    path = ScoreHistogramResult.from_receipt(file).report(tmp_path / "r.html")
    words = " ".join(read(path).words)
    assert "entry 41 of the platform’s ledger" in words
    assert "a checkpoint" in words


def test_an_audit_that_is_connected_is_not_asked_for_its_proof(tmp_path: Path) -> None:
    def asked() -> None:
        raise AssertionError("the connection may be closed")

    audit = finished(FAIR)
    connected = replace(audit, audit=audit_of(audit.release), prove=asked)
    words = " ".join(read(connected.report(tmp_path / "r.html")).words)
    assert "auditor receipt verify" in words


def test_what_the_report_says_to_type_gives_the_same_again(tmp_path: Path) -> None:
    audit = finished(UNFAIR)
    receipt = audit.save_receipt(tmp_path / "receipt.json")
    chosen = MetricSelection(only=("parity", "quantile-gap"), thresholds=(0.5,), quantiles=(0.25,))
    page = audit.report(tmp_path / "r.html", alpha=0.3, delta=0.05 / 3, selection=chosen)
    [line] = [
        line
        for words in read(page).words
        for line in words.splitlines()
        if line.startswith("auditor analyse")
    ]
    typed = [str(receipt) if word == "receipt.json" else word for word in shlex.split(line)[1:]]
    done = CliRunner().invoke(app, [*typed, "--json"])
    [again] = json.loads(done.stdout)["audits"]
    [found] = audit.results(alpha=0.3, delta=0.05 / 3, selection=chosen).audits
    same = {"name": "receipt", "service": None}
    assert again | same == json.loads(found.model_dump_json()) | same


@pytest.mark.parametrize("first", [True, False, None])
def test_the_report_states_the_registration_of_a_study(first: bool | None) -> None:
    entered = Registered(entry=7, at=NOW, by="researcher_1", first=first)
    study = StudyFound(
        title="t", question="", digest="sha256:0", alpha=0.2, delta=0.05, registration=entered
    )
    words = narrative.registration(study)
    assert "as entry 7 of the platform’s ledger" in words
    said = {True: "Every release came after", False: "Not every release", None: "has no proof"}
    assert said[first] in words
    alone = study.model_copy(update={"registration": None})
    assert "not registered" in narrative.registration(alone)


def test_a_study_of_nasty_words_is_only_text() -> None:
    audit = finished(UNFAIR, {"g0": NASTY, "g1": "x"}, title=NASTY)
    chosen = MetricSelection(qualified=NASTY, thresholds=(0.5,), only=("parity",))
    study = StudyFound(title=NASTY, question=NASTY, digest=NASTY, alpha=0.2, delta=0.05)
    results = Results(study=study, audits=(analyse(audit, name=NASTY, selection=chosen),))
    reader = Reader()
    reader.feed(render_study({NASTY: audit}, results, study, chosen))
    assert "script" not in reader.tags
    assert reader.tags.count("article") == 1
    assert sum(NASTY in words for words in reader.words) >= 4
