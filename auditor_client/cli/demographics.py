"""`auditor bisg`: probabilities of groups from surnames and areas, as columns of a table."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
import pyarrow.csv
import typer

from auditor_client.audiences.file_tables import read_table
from auditor_client.cli.options import AsJson
from auditor_client.cli.output import show_row
from auditor_client.errors import InputError

if TYPE_CHECKING:
    from auditor_client.demographics import Probabilities

_UNCHECKED = "none; if some people's groups are known, name their column with --known"


def bisg(
    people: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file with one row per person.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="The .csv file to write: the same table with one more column per group."),
    ],
    surname: Annotated[str, typer.Option(help="The column of surnames.")] = "surname",
    area: Annotated[str, typer.Option(help="The column of ZIP codes.")] = "zip",
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Two groups (HSM, non-HSM) instead of six.")
    ] = False,
    known: Annotated[
        str | None,
        typer.Option(
            help=(
                "A column of groups, filled where known, against which the probabilities are "
                "checked."
            )
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add probabilities of race and ethnicity by surname and ZIP code (US Census, 2010).

    Nothing is sent anywhere. The command shows the number of estimates by their source. With
    `--known`, it refuses probabilities that are worse than base rates for those people.
    """
    from auditor_client import demographics  # the tables take a second to load

    text = [surname, area, *([known] if known else [])]
    table = read_table(people, text, None)
    if missing := [name for name in text if name not in table.column_names]:
        raise InputError(
            f"{people} has no column {missing[0]!r}: name the column with --surname, "
            "--area or --known."
        )
    names, areas = table[surname], table[area]
    found = demographics.bisg(names, areas)
    checked = _checked(found, table[known].to_pylist()) if known else _UNCHECKED
    if coarse:
        found = demographics.coarsened(found)
    for group, shares in found.as_columns().items():
        table = table.append_column(group, pa.array(shares))
    pyarrow.csv.write_csv(table, out)
    groups = ",".join(found.columns)
    sources = demographics.sources(names, areas)
    show_row({"groups": groups, **sources, "check": checked}, as_json=as_json)


def _checked(found: "Probabilities", labels: list[str | None]) -> str:
    """Return the check in words; raise InputError if base rates are nearer to the known groups."""
    from auditor_client.demographics.calibration import WorseThanBaseRatesWarning
    from auditor_client.demographics.surname_geography import checked_by

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorseThanBaseRatesWarning)
        made = checked_by(found, [label or None for label in labels])
    if made.worse_than_base_rates:
        raise InputError(f"{made.explain()} Nothing was written.", case="worse-than-base-rates")
    return made.explain()
