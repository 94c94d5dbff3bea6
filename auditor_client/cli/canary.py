"""`auditor canary`: checks whether a platform treats audits specially.

The checks use receipts and the counts of canaries. They need no profile and no network.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from auditor_client.cli.options import AsJson
from auditor_client.cli.output import show_row, show_rows
from auditor_client.errors import InputError

app = typer.Typer(help="Check whether a platform treats audits specially.", no_args_is_help=True)

Receipt = Annotated[Path, typer.Argument(metavar="RECEIPT", help="A file written by save_receipt.")]
FalseAlarm = Annotated[
    float, typer.Option(help="Probability that an honest platform is accused.", min=0, max=1)
]


@app.command("plan")
def plan(
    rate: Annotated[float, typer.Argument(help="The delivery rate to check: 0.01 is 1 %.")],
    people: Annotated[int | None, typer.Option(help="People per group in the audit.")] = None,
    canaries: Annotated[int | None, typer.Option(help="Canaries per group.")] = None,
    excluded: Annotated[
        float, typer.Option(help="The share of one group's deliveries that is withheld.")
    ] = 1.0,
    epsilon: Annotated[float, typer.Option(help="The noise on each bin is 1/epsilon.")] = 1.0,
    power: Annotated[float, typer.Option(help="The probability that the check finds it.")] = 0.8,
    false_alarm: FalseAlarm = 0.01,
    receipt: Annotated[
        Path | None, typer.Option(help="An earlier audit of the content, which gives the edges.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Propose edges, people and canaries for a delivery rate, and the lowest rate that they
    check.
    """
    from auditor_client.consistency.canary_plan import canary_plan, find_edges
    from auditor_client.kinds.score_histogram.result import ScoreHistogramResult

    found = canary_plan(
        rate, people=people, canaries=canaries, excluded=excluded, epsilon=epsilon,
        false_alarm=false_alarm, power=power,
    )  # fmt: skip
    row = asdict(found) | {"in_words": found.explain()}
    if receipt is not None:
        row["edges"] = find_edges(ScoreHistogramResult.from_receipt(receipt), found.tails)
    show_row(row, as_json=as_json)


@app.command("field")
def field(
    receipt: Receipt,
    shown: Annotated[
        list[str],
        typer.Option(help="Counts of a group: NAME=SHOWN/CANARIES, for example woman=3/1000."),
    ],
    false_alarm: FalseAlarm = 0.01,
    as_json: AsJson = False,
) -> None:
    """Check whether these scores can explain to which canaries the content was delivered."""
    from auditor_client.consistency.canary import field_check

    found = field_check(receipt, _shown(shown), false_alarm)
    row = {**asdict(found), "verdict": found.verdict, "in_words": found.explain()}
    show_row(row, as_json=as_json)
    if found.verdict == "irreconcilable":
        raise typer.Exit(1)


@app.command("presence")
def presence(
    receipt: Receipt,
    canaries: Annotated[
        list[str],
        typer.Option(help="Number of a group's canaries: NAME=NUMBER, for example woman=300."),
    ],
    false_alarm: FalseAlarm = 0.01,
    as_json: AsJson = False,
) -> None:
    """Check whether the audit scored all canaries, who certainly have an account."""
    from auditor_client.consistency.canary import presence_check

    numbers = {name: _number(text, each) for each in canaries for name, text in [_split(each)]}
    found = presence_check(receipt, numbers, false_alarm)
    rows = [{**asdict(one), "verdict": one.verdict, "in_words": one.explain()} for one in found]
    columns = ["group", "canaries", "counted", "p_value", "verdict", "in_words"]
    show_rows(rows, columns, as_json=as_json)
    if any(one.verdict == "irreconcilable" for one in found):
        raise typer.Exit(1)


def _shown(given: list[str]) -> Mapping[str, tuple[int, int]]:
    found = {}
    for each in given:
        name, text = _split(each)
        seen, _, canaries = text.partition("/")
        found[name] = _number(seen, each), _number(canaries, each)
    return found


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise InputError(f"{text!r} is not NAME=NUMBER or NAME=SHOWN/CANARIES.", case="canaries")
    return name, value


def _number(text: str, whole: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{whole!r}: {text!r} is not a number of canaries.", case="canaries")
    return int(text)
