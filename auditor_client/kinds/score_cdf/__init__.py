"""Distributions of scores."""

from auditor_client.kinds.asking.hooks import AskingHalf
from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from openapi.kinds import score_cdf as contract

KIND = AuditorKind(
    contract.KIND,
    result=ScoreCdfResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    asking=AskingHalf(aliases=("cdf",)),
    demonstration={"bins": {"edges": [step / 20 for step in range(21)]}, "epsilon": "1"},
)
