"""Probabilities of group membership: BISG, self-reports, and their protection.

    from auditor_client.demographics import bisg

    probabilities = bisg(["Garcia", "Nguyen"], ["78207", "95122"])
    probabilities["hispanic"]       # a column; `probabilities.columns` are the names of all

Other vectors work too: `checked(vectors, columns)` accepts them from any source, and `hard` makes
them from labels. docs/explanation/demographics.md states the assumptions of each step.

[OHB26] Osoba, He, Badrinarayanan et al., Productionized fairness measurement under privacy
       constraints, arXiv:2606.27558, §4, §6.1, Appendix D.
"""

from auditor_client.demographics.calibration import (
    Calibration,
    GroupCheck,
    WorseThanBaseRatesWarning,
    calibration,
)
from auditor_client.demographics.census_tables import Tables, census_2010
from auditor_client.demographics.clipping import clipped, threshold_at
from auditor_client.demographics.probability_columns import (
    CATEGORIES,
    HSM,
    Probabilities,
    checked,
    coarsened,
    hard,
)
from auditor_client.demographics.self_reports import SILENT, RandomisedResponse
from auditor_client.demographics.surname_geography import bisg, sources

__all__ = [
    "CATEGORIES",
    "HSM",
    "SILENT",
    "Calibration",
    "GroupCheck",
    "Probabilities",
    "RandomisedResponse",
    "Tables",
    "WorseThanBaseRatesWarning",
    "bisg",
    "calibration",
    "census_2010",
    "checked",
    "clipped",
    "coarsened",
    "hard",
    "sources",
    "threshold_at",
]
