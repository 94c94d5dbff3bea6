"""Match counts."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.match_count.result import MatchCountResult
from openapi.kinds import match_count as contract

KIND = AuditorKind(
    contract.KIND,
    result=MatchCountResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    demonstration={"epsilon": "1"},
)
