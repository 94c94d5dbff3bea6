"""`auditor report`: a report made offline from a receipt."""

from pathlib import Path
from typing import Annotated

import typer

from auditor_client.cli.metric_options import (
    Metrics,
    Qualified,
    Quantiles,
    Thresholds,
    selection_of,
)
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.summary import show_result
from auditor_client.local.progress import bar

Alpha = Annotated[
    float | None,
    typer.Option(
        help="The tolerated gap or difference (default: that of the kind).",
        min=0,
        max=1,
        show_default=False,
    ),
]
Delta = Annotated[float, typer.Option(help="The probability of error.", min=0, max=1)]


def report(
    receipt: Annotated[Path, typer.Argument(help="A file written by save_receipt.")],
    out: Annotated[Path, typer.Option(help="Where to write the HTML.")] = Path("report.html"),
    json_out: Annotated[Path | None, typer.Option(help="Write results.json here.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write a LaTeX table here.")] = None,
    alpha: Alpha = None,
    delta: Delta = 0.05,
    metric: Metrics = None,
    threshold: Thresholds = None,
    quantile: Quantiles = None,
    qualified: Qualified = None,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """Verify a receipt and write the report of its audit. Needs no network."""
    from auditor_client.kinds.analysis import read_receipt  # SciPy takes a second to import

    audit = read_receipt(receipt)
    selection = selection_of(metric, threshold, quantile, qualified)
    with bar("Analysing", show=not as_json):
        audit.report(out, alpha=alpha, delta=delta, selection=selection)
        if json_out or latex:
            results = audit.results(alpha=alpha, delta=delta, selection=selection)
            if json_out:
                results.save(json_out)
            if latex:
                latex.write_text(results.to_latex(), encoding="utf-8")
    show_result(audit, alpha, delta, as_json=as_json, more={"report": str(out)})
