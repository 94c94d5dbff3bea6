"""Results: what methods compute, in one document; as JSON, as LaTeX, and from receipts alone."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from auditor_client.cli.app import app
from auditor_client.consistency.results_section import compare_audits
from auditor_client.errors import InputError, ReceiptError
from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.analysis import analyse, read_receipt
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.latex import escape
from auditor_client.reporting.metric_sentences import limits, round_down, round_up
from auditor_client.reporting.results_document import Results
from privacy.receipts import digest
from tests.auditor_client.examples import (
    NAMES,
    cdf_release,
    content,
    finished,
    key_set,
    platform_key,
    price,
    release,
    signed,
)
from tests.refusals import refuses

UNFAIR = {"g0": [480, 20, 0], "g1": [30, 470, 0]}
ALIKE = {"g0": [252, 249, 0], "g1": [248, 250, 1]}
THREE = {"g0": [50, 30, 20, 0], "g1": [45, 36, 19, 0], "g2": [20, 30, 50, 0]}
NAMES_3 = {"g0": "a", "g1": "b & c", "g2": "d_e"}
AT_HALF = MetricSelection(thresholds=(0.5,))
run = CliRunner().invoke


def test_results_are_what_the_methods_say() -> None:
    audit = finished(THREE, NAMES_3)
    [found] = audit.results(alpha=0.1, delta=0.04).audits
    gap = audit.fairness_gap(0.04)
    assert found.gap is not None
    assert (found.gap.low, found.gap.high, found.verdict) == (gap.low, gap.high, gap.verdict(0.1))
    assert found.gap.scores == audit.bin_names()[gap.bin]
    assert [(one.low, one.high) for one in found.pairs] == [
        (one.low, one.high) for one in audit.pair_gaps(0.04)
    ]
    # All bins of all pairs: four bins (one of them outside) are fewer than are left out.
    assert [(one.value, one.low, one.high) for one in found.drivers] == [
        (one.difference, one.low, one.high) for one in audit.drivers(0.04)
    ]
    assert [(one.low, one.high) for one in found.metrics] == [
        (one.low, one.high) for one in audit.metrics(None, 0.04)
    ]
    assert [one.words for one in found.assumptions] == [
        one.words for one in audit.assumptions(0.1, 0.04)
    ]
    assert [one.people for one in found.people] == [100, 100, 100]


def test_the_few_drivers_are_among_all_with_the_same_limits() -> None:
    counts = {"g0": [9, 40, 3, 30, 18, 0], "g1": [30, 12, 20, 30, 9, 2]}
    audit = finished(counts)
    whole = {driver.bin: driver for driver in audit.drivers()}
    few = audit.drivers(most=3)
    assert len(few) == 3
    assert all(whole[driver.bin] == driver for driver in few)
    apart = sorted(whole.values(), key=lambda driver: -abs(driver.difference))
    assert {driver.bin for driver in few} == {driver.bin for driver in apart[:3]}


def test_metrics_are_chosen() -> None:
    audit = finished(UNFAIR)
    names = [one.metric for one in analyse(audit, selection=AT_HALF).metrics]
    assert names == [
        "parity", "impact-ratio", "mean-difference", "kolmogorov-smirnov", "wasserstein",
        "quantile-gap",
    ]  # fmt: skip
    only = MetricSelection(only=("quantile-gap",), quantiles=(0.25, 0.75))
    assert [(one.metric, one.at) for one in analyse(audit, selection=only).metrics] == [
        ("quantile-gap", 0.25),
        ("quantile-gap", 0.75),
    ]
    [parity] = analyse(
        audit, selection=MetricSelection(only=("parity",), thresholds=(0.5,))
    ).metrics
    assert parity.value == pytest.approx(-0.9)
    assert "Of man, 90.0 percentage points less than of woman score 0.5 or above" in parity.words


def test_the_results_state_the_four_fifths_rule() -> None:
    only = MetricSelection(only=("impact-ratio",), thresholds=(0.5,))
    [found] = analyse(finished(UNFAIR), selection=only).metrics
    assert found.four_fifths == "fails"
    assert "By the four-fifths rule: fails" in found.words


def test_what_is_infinite_is_null_and_can_be_read_again(tmp_path: Path) -> None:
    nobody = {"g0": [500, 0, 0], "g1": [500, 0, 0]}
    results = finished(nobody).results(
        selection=MetricSelection(only=("impact-ratio",), thresholds=(0.5,))
    )
    [found] = results.audits[0].metrics
    assert found.high is None
    assert "above 0.000" in found.words
    text = results.save(tmp_path / "results.json").read_text(encoding="utf-8")
    assert "Infinity" not in text
    assert json.loads(text)["format"] == "platform-auditor/results/v1"
    assert Results.load(tmp_path / "results.json") == results
    assert "\\infty" in results.to_latex()


@pytest.mark.parametrize("change", [{"format": "other"}, {"audits": 1}, {"more": 1}])
def test_other_documents_are_not_results(tmp_path: Path, change: dict[str, Any]) -> None:
    path = finished(ALIKE).results().save(tmp_path / "r.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with refuses(InputError, "not-a-results-file"):
        Results.load(path)


def test_running_counts_have_metrics_and_numbers(tmp_path: Path) -> None:
    key = platform_key()
    made = cdf_release(key, {"g0": [120.0, 300.0, 300.0], "g1": [200.0, 300.0, 300.0]})
    audit = ScoreCdfResult(made, key_set(key), NAMES, contents=(content(),))
    path = audit.save_receipt(tmp_path / "cdf.json")
    found = analyse(read_receipt(path), selection=AT_HALF)
    assert (found.verdict, found.gap, found.kind) == (None, None, "score-cdf")
    assert found.numbers["man"] == [120.0, 300.0, 300.0]
    assert {one.metric for one in found.metrics} >= {"parity", "kolmogorov-smirnov"}


@given(st.floats(-2, 2), st.integers(1, 4))
@example(2.33e-12, 1)  # rounded to 0.0 once
def test_limits_are_rounded_outwards(number: float, places: int) -> None:
    assert float(round_down(number, places)) <= number + 1e-12
    assert float(round_up(number, places)) >= number - 1e-12
    assert float(round_up(number, places)) - float(round_down(number, places)) <= 1.01 * 10**-places


def test_limits_in_words() -> None:
    assert limits(0.07, 0.07) == "between 0.070 and 0.070"
    assert limits(-0.00001, 0.5) == "between -0.001 and 0.500"
    assert limits(0.1, math.inf) == "above 0.100"
    assert limits(-math.inf, 0.1) == "below 0.100"
    assert limits(-math.inf, math.inf) == "anywhere"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("50 % & more_$#", r"50 \% \& more\_\$\#"),
        ("{a}", r"\{a\}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("a^b~c", r"a\textasciicircum{}b\textasciitilde{}c"),
        ("woman × Black", r"woman $\times$ Black"),
        ("a<b>c|d", "a$<$b$>$c$|$d"),
        ("a\nb\x00\x1b", "a b  "),
    ],
)
def test_latex_prints_what_is_written(text: str, printed: str) -> None:
    assert escape(text) == printed


@given(st.text(max_size=50))
def test_nothing_that_latex_obeys_is_left(text: str) -> None:
    bare = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum)\{\}|\\[{}&%$#_]|\$[<>|-]\$|\$\\times\$",
        "",
        escape(text),
    )
    assert not set(bare) & set("\\{}&%$#_^~\n\r")


def test_the_table_is_escaped_and_has_no_packages() -> None:
    table = finished(THREE, NAMES_3, title="x").results(selection=MetricSelection()).to_latex()
    assert r"b \& c" in table
    assert r"d\_e" in table
    assert "toprule" not in table
    assert table.count("{") == table.count("}")
    rows = [line for line in table.splitlines() if line.endswith("\\\\")]
    assert all(len(re.findall(r"(?<!\\)&", row)) == 4 for row in rows)
    # The gap, three pairs of four metrics, and the head.
    assert len(rows) == 1 + 1 + 3 * 4


def test_the_command_analyses_receipts_alone(tmp_path: Path) -> None:
    path = finished(UNFAIR).save_receipt(tmp_path / "one.json")
    table, out = tmp_path / "t.tex", tmp_path / "r.json"
    arguments = ["analyse", str(path), "--threshold", "0.5", "--delta", "0.01"]
    done = run(app, [*arguments, "--latex", str(table), "--json-out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(out.read_text(encoding="utf-8"))
    [found] = Results.load(out).audits
    assert (found.name, found.verdict, found.delta) == ("one", "unfair", 0.01)
    assert (found.checked, found.entry) == (False, None)
    assert table.read_text(encoding="utf-8") == Results.load(out).to_latex()
    shown = run(app, arguments, env={"COLUMNS": "200"}).stdout
    assert "unfair" in shown
    assert "impact-ratio" in shown
    assert "independent people" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--metric", "fairness"], "There is no metric 'fairness'"),
        (["--metric", "parity"], "needs a threshold"),
        (["--threshold", "0.4"], r"threshold 0\.4 .*: 0\.5\."),
        (["--quantile", "2"], "between 0 and 1"),
        (["--qualified", "yes", "--threshold", "0.5"], "Fewer than two groups end in 'yes'"),
        (["--delta", "0"], "delta must lie between 0 and 1"),
        (["--consistency", "repeat"], "at least two releases"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path: Path, arguments: list[str], words: str) -> None:
    path = finished(ALIKE).save_receipt(tmp_path / "one.json")
    done = run(app, ["analyse", str(path), *arguments])
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.search(words, done.stderr)


def receipt_of(folder: Path, name: str, counts: dict[str, list[int]]) -> str:
    """The receipt of an audit of its own."""
    key = platform_key()
    made = release(key, counts, kind="bins", paid=price(1.0, None))
    unsigned = made.model_copy(update={"audit_id": f"audit_{digest(name.encode())[7:37]}"})
    audit = ScoreHistogramResult(signed(unsigned, key), key_set(key), NAMES, contents=(content(),))
    return str(audit.save_receipt(folder / f"{name}.json"))


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        ({"g0": [41, 58, 31, 0], "g1": [45, 55, 19, -1]}, "consistent"),
        ({"g0": [41, 58, 31, 0], "g1": [45, 90, 19, -1]}, "irreconcilable"),
    ],
)
def test_receipts_are_compared_with_a_known_rate_of_false_alarms(
    tmp_path: Path, other: dict[str, list[int]], verdict: str
) -> None:
    first = {"g0": [40, 60, 30, 0], "g1": [45, 54, 20, 1]}
    paths = [receipt_of(tmp_path, "a", first), receipt_of(tmp_path, "b", other)]
    asked = ["analyse", *paths, "--consistency", "repeat", "--false-alarm", "0.01"]
    document = json.loads(run(app, [*asked, "--json"]).stdout)
    found = document["consistency"]
    assert [one["name"] for one in document["audits"]] == ["a", "b"]
    assert (found["verdict"], found["audits"]) == (verdict, ["a", "b"])
    assert (found["p_value"] <= 0.01) == (verdict == "irreconcilable")
    assert "at most 1.00% of tests" in run(app, asked, env={"COLUMNS": "200"}).stdout


def test_a_receipt_is_not_compared_with_itself(tmp_path: Path) -> None:
    path = receipt_of(tmp_path, "a", ALIKE)
    assert "given twice" in run(app, ["analyse", path, path]).stderr
    (tmp_path / "copy.json").write_bytes(Path(path).read_bytes())
    done = run(app, ["analyse", path, str(tmp_path / "copy.json"), "--consistency", "repeat"])
    assert "one release is given twice" in done.stderr


def test_only_histograms_are_compared() -> None:
    key = platform_key()
    made = cdf_release(key, {"g0": [1.0, 2.0], "g1": [1.0, 2.0]})
    audit = ScoreCdfResult(made, key_set(key), NAMES)
    with refuses(InputError, "another-kind", "b"):
        compare_audits({"a": finished(ALIKE), "b": audit}, "repeat")


def test_a_forged_receipt_is_not_analysed(tmp_path: Path) -> None:
    path = finished(ALIKE).save_receipt(tmp_path / "one.json")
    saved = json.loads(path.read_text())
    other = finished(UNFAIR).receipt
    path.write_text(json.dumps(saved | {"receipt": other}))
    with pytest.raises(ReceiptError):
        read_receipt(path)
    done = run(app, ["analyse", str(path)])
    assert done.exit_code == 1
    assert "Traceback" not in done.output


def test_an_alpha_of_zero_has_no_theorem() -> None:
    found = analyse(finished(UNFAIR), alpha=0.0)
    assert (found.verdict, found.assumptions) == ("unfair", ())


def test_every_field_is_documented() -> None:
    """docs/how-to/researchers/run-a-study-file.md names every member of the document."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "researchers" / "run-a-study-file.md"
    words = page.read_text(encoding="utf-8")
    schema = Results.model_json_schema()
    members = [*schema["properties"]]
    members += [name for one in schema["$defs"].values() for name in one["properties"]]
    assert [name for name in members if f"`{name}`" not in words] == []
