"""`auditor reo`, `reo-plan` and `audit reo`: equal opportunity from your own logs, or a platform's.

The first two need no network and no profile.
"""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from auditor_client.auditor import Auditor
from auditor_client.cli.asking import AudienceId, Key, MandateId, Mechanism, ReceiptFile, Rho
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet, pairs
from auditor_client.cli.showing import show_row
from auditor_client.errors import InputError
from auditor_client.findings import result_row

LogFile = Annotated[Path, typer.Option("--default", help="Default traffic: Parquet or CSV.")]
RandomFile = Annotated[
    Path | None,
    typer.Option("--random", help="Random traffic: what makes the question answerable."),
]
Labels = Annotated[
    str, typer.Option("--label", help="Signals whose union is the label: like,share.")
]
Group = Annotated[str, typer.Option(help="The column of the creator's group.")]
Viewer = Annotated[
    str | None, typer.Option(help="The column of viewers: their rows are not independent.")
]
Day = Annotated[str | None, typer.Option(help="The column of days: each gets a penalty.")]
Delta = Annotated[float, typer.Option(help="The probability of missing the truth.")]


def reo(
    default: LogFile,
    label: Labels,
    group: Group,
    random: RandomFile = None,
    viewer: Viewer = None,
    day: Day = None,
    treatment: Annotated[
        Path | None, typer.Option(help="A treatment's traffic, to compare.")
    ] = None,
    recalled: Annotated[Path | None, typer.Option(help="Traffic of what passed recall.")] = None,
    delta: Delta = 0.05,
    chart: Annotated[Path | None, typer.Option(help="Draw the days into this SVG.")] = None,
    as_json: AsJson = False,
) -> None:
    """Is relevant content shown as often, whoever made it? Asked of your own logs."""
    from auditor_client.reo import own_logs  # SciPy takes a second to import

    if chart and not day:
        raise InputError("A chart is of days: name their column with --day.")
    labels = _words(label) or []
    logs = own_logs(
        default, random, labels, group,
        viewer=viewer, day=day, treatment=treatment, recalled=recalled,
    )  # fmt: skip
    found = logs.penalty(delta)
    row: dict[str, Any] = {
        "penalty": _number(found.penalty),
        "se": _number(found.se),
        "low": found.low,
        "high": found.high,
        "delta": delta,
        "defined": found.defined,
        "relative": {name: _number(value) for name, value in found.relative.items()},
        "parity": logs.parity(delta).penalty,
        "rows": {"default": logs.default.rows, "random": logs.random.rows},
        "positives": {"default": logs.default.positives, "random": logs.random.positives},
        "in_words": found.explain(),
    }
    if treatment:
        change = logs.difference(delta)
        limits = {"low": change.low, "high": change.high}
        row["difference"] = {"value": _number(change.difference), **limits}
        row["change"] = change.explain()
    if recalled:
        stages = logs.stages(delta)
        row["recall"], row["ranking"] = stages.recall.explain(), stages.ranking.explain()
    if day:
        row["days"] = _days(logs.monitor(delta), chart)
    show_row(row, as_json=as_json)


def _number(value: float) -> float | None:
    """What is undefined is null, as JSON has it."""
    return None if math.isnan(value) else value


def _days(watched: Any, chart: Path | None) -> list[dict[str, Any]]:
    if chart:
        from auditor_client.charts import svg

        chart.write_text(svg(watched.chart()), encoding="utf-8")
    rows: list[dict[str, Any]] = watched.frame().to_pylist()
    return [{**row, "penalty": _number(row["penalty"])} for row in rows]


Shares = Annotated[str, typer.Option(help="Positive rows of each group, of all: a=0.1,b=0.25.")]


def plan(
    default: Shares,
    random: Shares,
    error: Annotated[float, typer.Option(help="By how much the penalty may be off.")] = 0.02,
    delta: Delta = 0.05,
    epsilon: Annotated[
        float | None, typer.Option(help="Of a platform's noise; none unless told.")
    ] = None,
    rows_per_viewer: Annotated[int, typer.Option(help="The most rows of one viewer.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """How many rows of default and random traffic tell the penalty that exactly."""
    from auditor_client.laws import Laplace
    from auditor_client.reo import rows_needed, share_rows

    q, p = _shares(default), _shares(random)
    noise = None if epsilon is None else Laplace(epsilon / rows_per_viewer)
    exact = rows_needed(q, p, error, delta, noise=noise, rows_per_viewer=rows_per_viewer)
    bare = rows_needed(q, p, error, delta, rows_per_viewer=rows_per_viewer)
    third, fourth = (
        rows_needed(q, p, error, delta, method) for method in ("theorem-e3", "theorem-e4")
    )
    row = {
        "error": error,
        "delta": delta,
        "rows_each": exact.recommended,
        "rows_each_without_noise": bare.recommended,
        "theorem_e1_random_rows": max(share_rows(share, error, delta) for share in p.values()),
        "theorem_e3": {"default": third.recommended, "random": third.random},
        "theorem_e4": {"default": fourth.recommended, "random": fourth.random},
    }
    show_row(row, as_json=as_json)


def audit(
    audience: AudienceId,
    log: Annotated[str, typer.Argument(metavar="LOG")],
    creators: Annotated[str, typer.Option(help="The column of the creators' groups.")],
    signals: Annotated[str | None, typer.Option(help="like,share; all unless told.")] = None,
    strategies: Annotated[str | None, typer.Option(help="default,new; all unless told.")] = None,
    days: Annotated[str | None, typer.Option(help="Days to tell apart, or `all`.")] = None,
    rows_per_person: Annotated[int, typer.Option(help="The most rows of one viewer.")] = 1,
    epsilon: Annotated[str | None, typer.Option(help="At most six decimal places.")] = None,
    mechanism: Mechanism = "discrete-laplace",
    rho: Rho = None,
    mandate: MandateId = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Is relevant content shown as often, whoever made it? Asked of a platform's log."""
    with Auditor.from_profile(profile) as auditor:
        found = auditor.audits.reo(
            audience, log, creators=creators,
            signals=_words(signals), strategies=_words(strategies),
            days="all" if days == "all" else _words(days) or (),
            rows_per_person=rows_per_person, epsilon=epsilon, mechanism=mechanism, rho=rho,
            mandate_id=mandate, idempotency_key=idempotency_key, progress=not quiet,
        )  # fmt: skip
        if receipt:
            found.save_receipt(receipt)
        show_row(result_row(found), as_json=as_json)


def _words(text: str | None) -> list[str] | None:
    return [word.strip() for word in text.split(",") if word.strip()] if text else None


def _shares(text: str) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in pairs(text.split(",")).items()}
    except ValueError as error:
        raise InputError(f"{text!r} is not of the form a=0.1,b=0.25.") from error
