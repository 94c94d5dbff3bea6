"""Most skewed content."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.most_skewed.result import MostSkewedResult
from openapi.kinds import most_skewed as contract

KIND = AuditorKind(
    contract.KIND,
    result=MostSkewedResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    demonstration={
        "bins": {"edges": [step / 20 for step in range(21)]},
        "epsilon": "1",
        "weights": [1, 1],
    },
)
