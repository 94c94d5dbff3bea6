"""BISG for a million people, compared with surgeo on names and areas that both know.

Names are drawn from the census table in its own spelling, so the difficulties of real names do not
count against the peer; our code still handles them. Both have their tables in memory.
"""

import numpy as np
import pandas as pd
import pyarrow as pa
import surgeo

from auditor_client.demographics import bisg, census_2010
from bench.harness import Figure, compare

PEOPLE = 1_000_000
COMMAND = "python -m bench demographics"


def run(people: int = PEOPLE) -> list[Figure]:
    tables, rng = census_2010(), np.random.default_rng(1)
    names = tables.surnames.take(pa.array(rng.integers(0, len(tables.surnames), people)))
    areas = tables.areas.take(pa.array(rng.integers(0, len(tables.areas), people)))
    theirs = surgeo.SurgeoModel(geo_level="ZCTA")
    series = pd.Series(names.to_pylist()), pd.Series(areas.to_pylist())
    figure = compare(
        f"BISG of {people:,} people, compared with surgeo",
        lambda: bisg(*series),
        lambda: theirs.get_probabilities(*series),
        goal="at most 1.0 of surgeo, and seconds",
        command=COMMAND,
        rounds=3,
    )
    return [figure]
