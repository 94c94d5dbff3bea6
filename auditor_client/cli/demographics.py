"""`auditor bisg`: probabilities of groups from surnames and areas, as columns of a table."""

from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.csv
import typer

from auditor_client.audiences.file_tables import read_table
from auditor_client.cli.options import AsJson
from auditor_client.cli.output import show_row
from auditor_client.errors import InputError


def bisg(
    people: Annotated[Path, typer.Argument(help="A .csv or .parquet file, a row a person.")],
    out: Annotated[Path, typer.Option(help="A .csv file: the same, with a column a group.")],
    surname: Annotated[str, typer.Option(help="The column of surnames.")] = "surname",
    area: Annotated[str, typer.Option(help="The column of ZIP codes.")] = "zip",
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Two groups (HSM, non-HSM) instead of six.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add probabilities of race and ethnicity by surname and ZIP code (US Census, 2010).

    Nothing is sent anywhere. What is shown is how many answers rest on what.
    """
    from auditor_client import demographics  # the tables take a second to load

    table = read_table(people, [surname, area], None)
    if missing := [name for name in (surname, area) if name not in table.column_names]:
        raise InputError(f"{people} has no column {missing[0]!r}: name it by --surname or --area.")
    names, areas = table[surname], table[area]
    found = demographics.bisg(names, areas)
    if coarse:
        found = demographics.coarsened(found)
    for group, shares in found.as_columns().items():
        table = table.append_column(group, pa.array(shares))
    pyarrow.csv.write_csv(table, out)
    groups = ",".join(found.columns)
    show_row({"groups": groups, **demographics.sources(names, areas)}, as_json=as_json)
