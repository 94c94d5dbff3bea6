"""The answer of a finished audit on the command line, whatever its kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditor_client.cli.output import show_row
from auditor_client.errors import InputError
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import kind_of


def show_answer(result: Result[Any], judgement: Mapping[str, float], *, as_json: bool) -> None:
    """Show the sentence, the verdict and the numbers of an audit, and what it cost."""
    show_row(answer_row(result, **judgement), as_json=as_json)


def answer_row(
    result: Result[Any], alpha: float | None = None, delta: float = 0.05
) -> dict[str, Any]:
    """Return what an audit says, and what it cost."""
    kind = kind_of(result)
    said = kind.summary(result, alpha, delta)
    judged: dict[str, Any] = {"alpha": kind.judgement(alpha).alpha} if kind.tolerance else {}
    if said.verdict:
        judged |= {"delta": delta, "verdict": said.verdict}
    price = result.release.price
    return {
        "audit": result.id,
        "kind": result.kind,
        "sentence": said.sentence,
        **result.numbers(),
        **judged,
        "debit": str(price.debit),
        "currency": price.currency,
    }


def write_report(result: Result[Any], path: Path, judgement: Mapping[str, float]) -> None:
    """Write the HTML report of an audit."""
    report = getattr(result, "report", None)
    if report is None:
        raise InputError(f"A {result.kind} audit has no report.", case="no-report")
    report(path, **judgement)
