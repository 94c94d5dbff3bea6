"""`auditor outcome`: an outcome test of a researcher's own log. No network, no profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from auditor_client.cli.options import AsJson, numbers
from auditor_client.cli.showing import print_json, show_rows
from auditor_client.errors import InputError
from auditor_client.tables import read_table

if TYPE_CHECKING:
    from auditor_client.outcome import Tested

# What people see of an effect, by what it is called there.
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
        str, typer.Option(help="So many quantiles of scores, or edges: 0.2,0.4,1.")
    ] = "10",
    person: Annotated[
        str | None, typer.Option(help="The column of persons, if some have several rows.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Test only those who just passed it (a classification).")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="The group that others are compared with.")
    ] = None,
    control: Annotated[
        Literal["linear", "slopes", "quadratic", "none"],
        typer.Option(help="For scores within a bin."),
    ] = "linear",
    outcome_range: Annotated[
        str | None, typer.Option(help="What outcomes may be at least and at most: 0,1.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="A difference in outcome that is tolerated.", min=0.0)
    ] = 0.0,
    delta: Annotated[float, typer.Option(help="The probability of a wrong verdict.")] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Do people with equal scores turn out equally well, whatever their group?"""
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
    )
    tested = test(moments, reference=reference, control=control, threshold=threshold, delta=delta)
    _show(tested, tolerance, as_json)


def _show(tested: "Tested", tolerance: float, as_json: bool) -> None:
    rows = [_row(row) for row in tested.frame().to_pylist()]
    if as_json:
        print_json(
            {
                "verdict": tested.verdict(tolerance),
                "words": tested.words(tolerance),
                "wald": None if tested.wald is None else vars(tested.wald),
                "effects": rows,
                "averages": [_finite(row) for row in tested.marginal_frame().to_pylist()],
            }
        )
        return
    for sentence in tested.words(tolerance):
        typer.echo(sentence)
    show_rows([_rounded(row) for row in rows], list(_SHOWN), as_json=False)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    scores = f"{row['low_score']:.3f} - {row['high_score']:.3f}"
    return {"scores": scores, **_finite(row)}


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN and no infinity: what is not there is null."""
    return {
        name: None if isinstance(value, float) and not abs(value) < float("inf") else value
        for name, value in row.items()
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    shown = {name: row[field] for name, field in _SHOWN.items()}
    return {
        name: f"{value:.3f}" if isinstance(value, float) else value for name, value in shown.items()
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
