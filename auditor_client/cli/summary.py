"""Answer of a finished audit, as every command prints it: sentence, table and price."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from auditor_client.cli.output import print_json, printable, show_row, show_table
from auditor_client.kinds.presentation import Judgement, Summary
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import kind_of


def result_document(
    audit: Result[Any], alpha: float | None = None, delta: float = 0.05
) -> dict[str, Any]:
    """Return an audit's result and cost, as `--json` prints it."""
    kind = kind_of(audit)
    judged = kind.judgement(alpha, delta)
    return _document(audit, kind.answer(audit, judged), judged)


def show_result(
    audit: Result[Any],
    alpha: float | None = None,
    delta: float = 0.05,
    *,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Print the answer of an audit; `more` are facts that a command adds."""
    kind = kind_of(audit)
    judged = kind.judgement(alpha, delta)
    answer, added = kind.answer(audit, judged), dict(more or {})
    if as_json:
        print_json({**_document(audit, answer, judged), **added})
        return
    show_summary(answer)
    show_row({"audit": audit.id, **describe_debit(audit), **added}, as_json=False)


def show_summary(answer: Summary) -> None:
    """Print the sentence first, then the details and the table."""
    console = Console()
    console.print(printable(answer.sentence), style=_STYLES.get(answer.verdict or "", "bold"))
    for line in answer.details:
        console.print(printable(line))
    if answer.table:
        show_table(answer.table.caption, answer.table.heads, answer.table.rows)


def describe_debit(audit: Result[Any]) -> dict[str, str]:
    """Return the debit as text."""
    price = audit.release.price
    return {"paid": f"{price.debit} {price.currency}"}


_STYLES = {"fair": "bold green", "unfair": "bold red", "inconclusive": "bold yellow"}


def _document(audit: Result[Any], answer: Summary, judged: Judgement) -> dict[str, Any]:
    price = audit.release.price
    return {
        "audit": audit.id,
        "kind": audit.kind,
        "verdict": answer.verdict,
        "sentence": answer.sentence,
        "details": list(answer.details),
        **audit.numbers(),
        **answer.numbers,
        "alpha": judged.alpha,
        "delta": judged.delta,
        "debit": str(price.debit),
        "currency": price.currency,
    }
