"""Two-party audits."""

from auditor_client.kinds.asking.hooks import AskingHalf
from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.two_party.result import TwoPartyResult
from openapi.kinds import two_party as contract

KIND = AuditorKind(
    contract.KIND,
    result=TwoPartyResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    measurer=OnFirstUse(f"{__name__}.units", "measure"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    asking=AskingHalf(by_hand=True),
    decrypted_here=True,
)
