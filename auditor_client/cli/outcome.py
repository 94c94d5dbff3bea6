"""`auditor outcome`: an outcome test on a researcher's own log, without network or profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from auditor_client.audiences.file_tables import read_table
from auditor_client.cli.options import AsJson, numbers
from auditor_client.cli.output import print_json, show_rows
from auditor_client.errors import InputError

if TYPE_CHECKING:
    from auditor_client.outcome import CorrectionEffect, Tested

# Fields of an effect that the command prints, by their printed names.
_SHOWN = {
    "scores": "scores", "group": "group", "than": "relative_to", "more": "estimate",
    "low": "low", "high": "high", "p_of_all": "adjusted", "why_not": "why",
}  # fmt: skip


def outcome(
    file: Annotated[Path, typer.Option("--file", help="The log: .parquet, or .csv.")],
    score: Annotated[str, typer.Option(help="The column of scores.")],
    outcome: Annotated[str, typer.Option(help="The column of outcomes; empty if not observed.")],
    group: Annotated[str, typer.Option(help="The column of groups.")],
    bins: Annotated[
        str, typer.Option(help="Number of quantile bins of scores, or edges: 0.2,0.4,1.")
    ] = "10",
    person: Annotated[
        str | None, typer.Option(help="The column of persons, if some have several rows.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Test only people just above this score (classification).")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="The reference group of the comparisons.")
    ] = None,
    control: Annotated[
        Literal["linear", "slopes", "quadratic", "none"],
        typer.Option(help="Control for scores within a bin."),
    ] = "linear",
    outcome_range: Annotated[
        str | None, typer.Option(help="Least and largest outcome: 0,1.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="The tolerated difference in outcomes.", min=0.0)
    ] = 0.0,
    query: Annotated[
        str | None,
        typer.Option(
            help="Column of jobs or lists: warns of rows that share one, gives the bias's size."
        ),
    ] = None,
    delta: Annotated[float, typer.Option(help="The probability of a wrong verdict.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Test whether people with equal scores have equal outcomes, whatever their group."""
    from auditor_client.outcome import from_frame, test  # SciPy takes seconds to import

    table = read_table(file, [group, *([person] if person else [])], None)
    moments = from_frame(
        table,
        score=score,
        outcome=outcome,
        group=group,
        bins=_bins(bins),
        person=person,
        threshold=threshold,
        outcome_range=_range(outcome_range),
        query=query,
    )
    tested = test(moments, reference=reference, control=control, threshold=threshold, delta=delta)
    columns = {"score": score, "outcome": outcome, "group": group, "query": query}
    asked = {**columns, "bins": _bins(bins), "person": person, "delta": delta}
    _show(tested, tolerance, _size(table, asked, threshold) if query else [], as_json)


def _size(table: Any, asked: dict[str, Any], threshold: float | None) -> list[dict[str, Any]]:
    """Return the changes by correction: of notifications with a threshold, of ranks without."""
    from auditor_client.outcome import notifications, ranks

    if threshold is None:
        moved = ranks(table, **asked)
        return [_moved(f"rank of {name}", one, one.difference) for name, one in moved.items()]
    found = notifications(table, **asked, threshold=threshold)
    groups = [_moved(f"N%Δ of {name}", one, one.percent) for name, one in found.groups.items()]
    return [*groups, _moved("Y%Δ", found.outcome, found.outcome.percent)]


def _moved(what: str, change: "CorrectionEffect", value: float) -> dict[str, Any]:
    limits = change.limits
    ends = {"low": limits.low, "high": limits.high} if limits else dict.fromkeys(("low", "high"))
    return _finite(
        {"of": what, "before": change.before, "after": change.after, "change": value, **ends}
    )


def _show(tested: "Tested", tolerance: float, size: list[dict[str, Any]], as_json: bool) -> None:
    rows = [_row(row) for row in tested.table().to_pylist()]
    if as_json:
        print_json(
            {
                "verdict": tested.verdict(tolerance),
                "words": tested.words(tolerance),
                "wald": None if tested.wald is None else vars(tested.wald),
                "effects": rows,
                "averages": [_finite(row) for row in tested.marginal_table().to_pylist()],
                **({"size": size} if size else {}),
            }
        )
        return
    for sentence in tested.words(tolerance):
        typer.echo(sentence)
    shown = [{name: row[field] for name, field in _SHOWN.items()} for row in rows]
    show_rows([_rounded(row) for row in shown], list(_SHOWN), as_json=False)
    if size:
        show_rows([_rounded(row) for row in size], list(size[0]), as_json=False)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    scores = f"{row['low_score']:.3f} - {row['high_score']:.3f}"
    return {"scores": scores, **_finite(row)}


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Replace NaN and infinity, which JSON lacks, with null."""
    return {
        name: None if isinstance(value, float) and not abs(value) < float("inf") else value
        for name, value in row.items()
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: f"{value:.3f}" if isinstance(value, float) else value for name, value in row.items()
    }


def _bins(text: str) -> int | list[float]:
    return int(text) if text.isdecimal() else numbers(text) or []


def _range(text: str | None) -> tuple[float, float] | None:
    found = numbers(text)
    if found is None:
        return None
    if len(found) != 2 or not found[0] < found[1]:
        raise InputError(f"{text!r} is not a range of outcomes like 0,1.")
    return found[0], found[1]
