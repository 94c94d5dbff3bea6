"""`auditor analyse`: offline analysis, computed again from receipts alone."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from auditor_client.cli.metric_options import (
    Metrics,
    Qualified,
    Quantiles,
    Thresholds,
    selection_of,
)
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import printable, show_row, show_rows
from auditor_client.cli.reports import Alpha, Delta
from auditor_client.cli.summary import describe_debit, show_summary
from auditor_client.errors import InputError
from auditor_client.kinds.protocol import Result
from auditor_client.ledger import read_trust, verify_receipt
from auditor_client.local.progress import bar
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.reporting.results_document import AuditFound, ConsistencyFound, Gap, Results

Receipts = Annotated[
    list[Path], typer.Argument(metavar="RECEIPT...", help="Files written by save_receipt.")
]
FalseAlarm = Annotated[
    float, typer.Option(help="Probability that an honest platform is accused.", min=0, max=1)
]


def analyse(
    receipts: Receipts,
    alpha: Alpha = None,
    delta: Delta = 0.05,
    metric: Metrics = None,
    threshold: Thresholds = None,
    quantile: Quantiles = None,
    qualified: Qualified = None,
    consistency: Annotated[
        Literal["repeat", "same-people", "edited", "halves"] | None,
        typer.Option(
            help="Test whether one model made these releases, which are related in this way."
        ),
    ] = None,
    false_alarm: FalseAlarm = 0.001,
    keys: Annotated[
        Path | None, typer.Option("--keys", help="Also check each receipt's entry in the ledger.")
    ] = None,
    latex: Annotated[Path | None, typer.Option(help="Write a LaTeX table here.")] = None,
    json_out: Annotated[Path | None, typer.Option(help="Write results.json here.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """Compute gap, verdict, pairs, drivers, metrics and assumptions, from receipts alone."""
    # SciPy takes seconds to import.
    from auditor_client.consistency.results_section import compare_audits
    from auditor_client.kinds import analysis

    names = _names(receipts)
    selection = selection_of(metric, threshold, quantile, qualified)
    _check_ledger(receipts, keys)
    audits = {name: analysis.read_receipt(path) for name, path in names.items()}
    with bar("Analysing", show=not as_json):
        found = [
            analysis.analyse(
                audit,
                alpha=alpha,
                delta=delta,
                selection=selection,
                name=name,
                checked=keys is not None,
            )
            for name, audit in audits.items()
        ]
        compared = compare_audits(audits, consistency, false_alarm) if consistency else None
    results = analysis.results_of(found, compared)
    if json_out:
        results.save(json_out)
    if latex:
        latex.write_text(results.to_latex(), encoding="utf-8")
    if as_json:
        print(results.to_json(), end="")
    else:
        _show(results, list(audits.values()))


def _names(receipts: list[Path]) -> dict[str, Path]:
    """Return each receipt by its file name, or by its path where file names are equal."""
    stems = [path.stem for path in receipts]
    named = stems if len(set(stems)) == len(stems) else [str(path) for path in receipts]
    if len(set(named)) < len(named):
        raise InputError("The same receipt is given twice. Give each receipt once.")
    return dict(zip(named, receipts, strict=True))


def _check_ledger(receipts: list[Path], keys: Path | None) -> None:
    if keys is not None:
        trust = read_trust(keys)
        for path in receipts:
            verify_receipt(SavedReceipt.load(path), trust)


def _show(results: Results, audits: list[Result[Any]]) -> None:
    for found, audit in zip(results.audits, audits, strict=True):
        _show_audit(found, audit)
    if results.consistency:
        _show_consistency(results.consistency)


def _show_audit(found: AuditFound, audit: Result[Any]) -> None:
    show_summary(audit.summary(found.alpha, found.delta))
    head = {
        "receipt": found.name,
        "audit": found.audit,
        "kind": found.kind,
        "released": found.released_at,
        **describe_debit(audit),
    }
    show_row(head, as_json=False)
    if len(found.pairs) > 1:
        _table("Gap of each pair", [_pair(pair) for pair in found.pairs])
    _table("Where the gap comes from", [one.model_dump() for one in found.drivers])
    _table(
        "Metrics",
        [
            one.model_dump(exclude={"fair", "rounding", "four_fifths", "words"})
            for one in found.metrics
        ],
    )
    if found.assumptions:
        Console().print("[bold]Assumptions[/]")
    words = {True: "holds", False: "does not hold", None: "no release can tell"}
    for one in found.assumptions:
        Console().print(printable(f"- {one.name} ({words[one.holds]}): {one.words}"))


def _pair(pair: Gap) -> dict[str, Any]:
    return pair.model_dump(exclude={"at_least", "at_most"})


def _table(title: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        Console().print(f"[bold]{title}[/]")
        shown = [{name: shown_number(name, row[name]) for name in row} for row in rows]
        show_rows(shown, list(rows[0]), as_json=False)


def shown_number(name: str, value: Any) -> Any:
    """Return a number of a column, rounded outwards if it is a limit."""
    from auditor_client.reporting.metric_sentences import round_down, round_up

    if name in ("low", "high") and value is None:
        return "none"
    if not isinstance(value, float):
        return value
    return {"low": round_down, "high": round_up}.get(name, lambda number: f"{number:.3f}")(value)


def _show_consistency(found: ConsistencyFound) -> None:
    Console().print("[bold]Can one model have made these releases?[/]")
    Console().print(printable(found.words))
    Console().print(f"An honest platform is accused in at most {found.false_alarm:.2%} of tests.")
