"""Distributions of a logged number."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.log_cdf.result import LogCdfResult
from openapi.kinds import log_cdf as contract

KIND = AuditorKind(
    contract.KIND,
    result=LogCdfResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    demonstration={"bins": {"edges": [step / 20 for step in range(21)]}, "epsilon": "1"},
)
