"""The bench prints the worst coverage last."""

import itertools
import sys

import pytest

from validation import gap_coverage, metric_coverage


def test_the_worst_coverage_is_printed_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = list(itertools.islice(gap_coverage.cases(), 1))
    one = list(itertools.islice(metric_coverage.designs(), 1))
    monkeypatch.setattr(gap_coverage, "cases", lambda: iter(few))
    monkeypatch.setattr(metric_coverage, "designs", lambda: iter(one))
    monkeypatch.setattr(metric_coverage, "TIMES", {"parity": 1})
    monkeypatch.setattr(sys, "argv", ["coverage", "5"])
    monkeypatch.setattr(metric_coverage, "platforms", lambda: platforms[:1])
    gap_coverage.main()
    printed = capsys.readouterr().out.strip().splitlines()
    shown = [float(line.split()[-1]) for line in printed[1:2] + printed[3:9]]
    assert printed[-1] == f"worst coverage: {min(shown):.4f}"


platforms = metric_coverage.platforms()
