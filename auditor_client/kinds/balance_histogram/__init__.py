"""Balance histograms."""

from auditor_client.kinds.asking.hooks import AskingHalf
from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from openapi.kinds import balance_histogram as contract

KIND = AuditorKind(
    contract.KIND,
    result=BalanceHistogramResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    asking=AskingHalf(aliases=("balances",)),
    demonstration={"epsilon": "1"},
)
