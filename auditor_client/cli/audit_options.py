"""Options shared by the commands that submit audits: contents, bins, noise and payment."""

from pathlib import Path
from typing import Annotated, Literal, TypedDict, Unpack

import typer

from auditor_client.cli.options import numbers, pairs
from auditor_client.kinds.options import Options

ContentId = Annotated[str, typer.Argument(metavar="CONTENT")]
AudienceId = Annotated[str, typer.Argument(metavar="AUDIENCE")]
Bins = Annotated[int, typer.Option(help="Equal bins over the range of scores.")]
EdgeList = Annotated[str | None, typer.Option(help="Edges of bins: 0,0.5,1.")]
LevelList = Annotated[str | None, typer.Option(help="Values of a discrete score: 1,2,3.")]
Epsilon = Annotated[
    str | None, typer.Option(help="At most six decimal places (default: 1).", show_default=False)
]
SizeEpsilon = Annotated[
    str | None, typer.Option(help="Epsilon for the noisy numbers of scored people.")
]
Mechanism = Annotated[
    Literal["discrete-laplace", "discrete-gaussian"],
    typer.Option(help="Kind of noise. Gaussian needs --rho and a mandate in rho."),
]
Rho = Annotated[str | None, typer.Option(help="Instead of --epsilon, for Gaussian noise.")]
SizeRho = Annotated[str | None, typer.Option(help="Instead of --size-epsilon, for Gaussian noise.")]
Context = Annotated[list[str] | None, typer.Option(help="name=value, repeatable.")]
MandateId = Annotated[str | None, typer.Option("--mandate", help="The mandate that pays.")]
Key = Annotated[
    str | None,
    typer.Option(
        help="Your own idempotency key, instead of this machine's record: the same key pays once."
    ),
]
ReportFile = Annotated[Path | None, typer.Option(help="Write the HTML report here.")]
ReceiptFile = Annotated[Path | None, typer.Option(help="Write the receipt here.")]


class NoiseOptions(TypedDict):
    """The options that say how much noise there is."""

    epsilon: str | None
    size_epsilon: str | None
    mechanism: Literal["discrete-laplace", "discrete-gaussian"]
    rho: str | None
    size_rho: str | None


def options_of(
    bins: int,
    edges: str | None,
    levels: str | None,
    context: list[str] | None,
    mandate: str | None,
    **noise: Unpack[NoiseOptions],
) -> Options:
    """The options of a score histogram."""
    return Options(
        bins=numbers(edges) or bins,
        levels=numbers(levels),
        context=context_of(context),
        mandate_id=mandate,
        **noise,
    )


def context_of(words: list[str] | None) -> dict[str, str | float]:
    return {name: _number_or_word(value) for name, value in pairs(words or []).items()}


def _number_or_word(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value
