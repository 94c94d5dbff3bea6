"""Score histograms."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.presentation import Tolerance
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from openapi.kinds import score_histogram as contract

KIND = AuditorKind(
    contract.KIND,
    result=ScoreHistogramResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    analyst=OnFirstUse(f"{__name__}.analysis", "analyse_histogram"),
    narrator=OnFirstUse(f"{__name__}.report", "sections"),
    least_groups=2,
    tolerance=Tolerance(0.2, "Tolerated gap α", of_study=True),
)
