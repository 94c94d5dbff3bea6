"""Sizes of bias."""

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.bias_size.request import ASKING
from auditor_client.kinds.bias_size.result import BiasSizeResult
from openapi.kinds import bias_size as contract

KIND = AuditorKind(
    contract.KIND,
    result=BiasSizeResult,
    summariser=OnFirstUse(f"{__name__}.summary", "summarise"),
    measurer=OnFirstUse(f"{__name__}.units", "measure"),
    forecaster=OnFirstUse(f"{__name__}.forecast", "forecast"),
    illustrator=OnFirstUse(f"{__name__}.charts", "illustrate"),
    asking=ASKING,
    demonstration={
        "bins": {"edges": [0, 1]},
        # The scores of women are too low by 0.08, as the demo's simulation has it.
        "corrections": [{"label": "woman", "add": [0.08]}, {"label": "man", "add": [0]}],
        "slopes": [1],
        "places": None,
        "epsilon": "1",
    },
)
