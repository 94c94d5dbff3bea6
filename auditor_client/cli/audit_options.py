"""Options of every command that runs an audit, and options that judge its result."""

from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from auditor_client.cli.charging import New
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet
from auditor_client.kinds.auditor_kind import AuditorKind

MandateId = Annotated[
    str | None,
    typer.Option(
        "--mandate", help="Mandate that pays (default: the one in force that ends first)."
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        help="Your own key, in place of the record on this machine. The same key pays once."
    ),
]
ReportFile = Annotated[Path | None, typer.Option(help="Write the HTML report here.")]
ReceiptFile = Annotated[Path | None, typer.Option(help="Write the receipt here.")]
PriceOnly = Annotated[bool, typer.Option("--price", help="Only show the price. Nothing is spent.")]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Pay without confirmation, whatever the forecast says.")
]
Alpha = Annotated[float, typer.Option("--alpha", min=0, max=1)]
Delta = Annotated[
    float, typer.Option("--delta", help="Probability that the verdict is wrong.", min=0, max=1)
]


@dataclass(frozen=True)
class Payment:
    """Options for the payment of an audit and the files of its result."""

    price: bool
    yes: bool
    mandate: str | None
    report: Path | None
    receipt: Path | None
    idempotency_key: str | None
    new: bool
    quiet: bool
    profile: str
    as_json: bool


def _option(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


COMMON = (
    _option("price", PriceOnly, False),
    _option("yes", Yes, False),
    _option("mandate", MandateId, None),
    _option("report", ReportFile, None),
    _option("receipt", ReceiptFile, None),
    _option("idempotency_key", Key, None),
    _option("new", New, False),
    _option("quiet", Quiet, False),
    _option("profile", ProfileName, DEFAULT_PROFILE),
    _option("as_json", AsJson, False),
)


def judgement_options(kind: AuditorKind, taken: set[str]) -> list[Parameter]:
    """Return the options that judge a kind's results, except those that its request has."""
    made = []
    if kind.tolerance and "alpha" not in taken:
        help_text = f"{kind.tolerance.label}: the largest value that the verdict accepts."
        alpha = Annotated[float, typer.Option("--alpha", help=help_text, min=0, max=1)]
        made.append(_option("alpha", alpha, kind.tolerance.usual))
    if "delta" not in taken:
        made.append(_option("delta", Delta, 0.05))
    return made
