"""Results as a LaTeX table, in plain LaTeX: no package is needed.

All text that an outsider may have written (names of groups, titles) passes `escape`.
"""

import math

from auditor_client.reporting.metric_sentences import name_of, round_down, round_up
from auditor_client.reporting.results_document import AuditFound, Results

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # These are not special, but print as other letters in LaTeX's oldest font encoding.
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': r"''",
    "×": r"$\times$",
    "–": "--",
    "−": r"$-$",
}

Row = tuple[str, str, str, str, str]


def escape(text: str) -> str:
    """Text that LaTeX prints as it is; what cannot be printed is a space."""
    return "".join(_SPECIAL.get(letter, letter if letter.isprintable() else " ") for letter in text)


def table(results: Results) -> str:
    """Return one table: the fairness gap of each audit with its verdict, then the metrics."""
    title = results.study.title if results.study else "Results of the audit"
    rows = [row for audit in results.audits for row in _rows(audit)]
    deltas = sorted({audit.delta for audit in results.audits})
    sure = ", ".join(f"{100 * (1 - delta):g}" for delta in deltas)
    caption = (
        f"{escape(title)}. Limits hold with a probability of at least {sure}\\,\\% for "
        "all pairs of groups of one metric at once; they include sampling error and "
        "noise."
    )
    body = "\n".join(f"{' & '.join(row)} \\\\" for row in rows)
    return (
        "\\begin{table}\n\\caption{" + caption + "}\n\\begin{tabular}{lllrl}\n\\hline\n"
        "Audit & Measure & Groups & Estimate & Limits \\\\\n\\hline\n"
        + body
        + "\n\\hline\n\\end{tabular}\n\\end{table}\n"
    )


def _rows(audit: AuditFound) -> list[Row]:
    name = escape(audit.name)
    rows = []
    if audit.gap:
        verdict = f"Fairness gap ({audit.verdict} at {_number(audit.alpha)})"
        names = _pair(audit.gap.more, audit.gap.less)
        limits = _limits(audit.gap.low, audit.gap.high)
        rows.append((name, verdict, names, _figure(audit.gap.value), limits))
    for one in audit.metrics:
        measure = escape(name_of(one.metric, one.at))
        limits = _limits(one.low, one.high)
        rows.append((name, measure, _pair(one.first, one.second), _figure(one.value), limits))
    return rows


def _pair(first: str, second: str) -> str:
    return f"{escape(first)}, {escape(second)}"


def _limits(low: float | None, high: float | None) -> str:
    start = "(-\\infty" if low is None else f"[{round_down(low)}"
    end = "\\infty)" if high is None else f"{round_up(high)}]"
    return f"${start}, {end}$"


def _figure(value: float | None) -> str:
    return "$\\infty$" if value is None else f"${value:.3f}$"


def _number(value: float) -> str:
    return f"${value:g}$" if math.isfinite(value) else "$\\infty$"
