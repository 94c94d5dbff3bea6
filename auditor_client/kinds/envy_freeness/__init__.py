"""Envy-freeness audits."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.envy_freeness.request import ASKING
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from openapi.kinds import envy_freeness as contract

KIND = AuditorKind(
    contract.KIND,
    result=EnvyFreenessResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    measurer=OnFirstUse(f"{__name__}.units", "measure"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    asking=ASKING,
    demonstration={"steps": 5000, "epsilon": "1.5", "targets": 60, "arms": 37},
)
