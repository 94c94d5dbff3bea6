"""Outcome tests."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.outcome_test.request import ASKING
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.presentation import Tolerance
from openapi.kinds import outcome_test as contract

KIND = AuditorKind(
    contract.KIND,
    result=OutcomeTestResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    measurer=OnFirstUse(f"{__name__}.units", "measure"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    tolerance=Tolerance(0.0, "Tolerated difference of outcomes"),
    least_groups=2,
    asking=ASKING,
    demonstration={"bins": {"edges": [0, 0.1, 0.2, 1]}, "epsilon": "2"},
)
