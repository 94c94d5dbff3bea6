"""Ranking-based equal opportunity (REO)."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.reo.result import ReoResult
from openapi.kinds import reo as contract

KIND = AuditorKind(
    contract.KIND,
    result=ReoResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    demonstration={
        "epsilon": "2",
        "rows_per_person": 3,
        "signals": ["like_video", "share", "follow", "finish", "download", "long_view"],
    },
)
