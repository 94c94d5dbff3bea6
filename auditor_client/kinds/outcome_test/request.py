"""Bins of an outcome test by quantiles: a first audit finds their edges."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, Field

from auditor_client.kinds.asking.hooks import AskingHalf, FirstAudit, Said
from openapi.kinds.inputs import Input
from openapi.kinds.log_cdf import KIND as LOG_CDF
from openapi.kinds.parameters import parameters_of
from openapi.kinds.request_fields import MAX_BINS
from openapi.wire_model import Epsilon

# Parameters that both audits share.
_ALIKE = ("audience", "log", "where", "rows_per_person", "mandate")


class QuantileBins(BaseModel):
    """Bins that hold about equal numbers of rows."""

    quantiles: Annotated[
        Annotated[int, Field(ge=2, le=MAX_BINS)] | None,
        Field(
            title="Bins by quantiles",
            description="Number of about equally full bins; a first audit finds their edges, and"
            " both are priced before it is paid.",
        ),
    ] = None
    quantile_epsilon: Annotated[
        Epsilon,
        Field(title="ε of the first audit", description="Privacy ε that finds the quantiles."),
        Input(default="0.25"),
    ] = Decimal("0.25")


def first(said: Said) -> FirstAudit | None:
    """Return the audit that finds the edges, if bins by quantiles are requested."""
    quantiles = said.get("quantiles")
    if quantiles is None:
        return None

    def then(found: Any) -> Said:
        return {"bins": found.quantile_edges(int(quantiles)), "quantiles": None}

    asked = {name: said[name] for name in _ALIKE if name in said}
    asked |= {
        "column": said.get("score", "score"),
        "epsilon": said.get("quantile_epsilon", "0.25"),
    }
    return FirstAudit(LOG_CDF.name, asked, then, {"bins": int(quantiles), "quantiles": None})


ASKING = AskingHalf(extras=parameters_of(QuantileBins), first=first)
