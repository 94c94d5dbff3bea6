"""Figures are published one by one, and one that fails takes no other with it."""

import json
from pathlib import Path

import pytest

from bench import __main__, harness
from bench.harness import MARK, Figure


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(harness, "PAGE", tmp_path / "page.md")
    harness.RESULTS.write_text("[]")
    harness.PAGE.write_text(f"before\n{MARK}\n{MARK}\nafter\n")


def figures(name: str) -> list[Figure]:
    return [Figure(name, 1.0, 2.0, 0.5, "≤ 1", f"python -m bench {name}")]


def test_a_failed_figure_is_reported_and_the_others_are_published(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> list[Figure]:
        raise ValueError("the disk is full")

    def last() -> list[Figure]:
        assert [each["name"] for each in json.loads(harness.RESULTS.read_text())] == ["first"]
        return figures("last")

    monkeypatch.setattr(
        __main__, "FIGURES", {"first": lambda: figures("first"), "fails": fails, "last": last}
    )
    assert __main__.main(["first", "fails", "last"]) == 1
    told = capsys.readouterr()
    assert "failed: fails" in told.out
    assert "the disk is full" in told.err
    assert [each["name"] for each in json.loads(harness.RESULTS.read_text())] == ["first", "last"]
    assert "| last | 1 s | 2 s | 0.5 | ≤ 1 |" in harness.PAGE.read_text()


def test_nothing_fails_when_all_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(__main__, "FIGURES", {"only": lambda: figures("only")})
    assert __main__.main(["only"]) == 0


def test_a_ratio_of_rounds_is_the_median_of_their_ratios() -> None:
    figure = Figure.of("name", [1.0, 9.0, 2.0], [1.0, 3.0, 4.0], "—", "python -m bench x")
    assert (figure.ours, figure.floor_or_peer, figure.ratio) == (2.0, 3.0, 1.0)
