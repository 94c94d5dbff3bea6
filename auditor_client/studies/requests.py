"""Requests of a study's audits, after contents and audiences have identifiers."""

from collections.abc import Mapping
from decimal import ROUND_DOWN, Decimal
from typing import Any

from auditor_client.audits.request_builder import RequestBuilder
from auditor_client.studies.audit_models import StudyAudit
from auditor_client.studies.state import StudyState
from openapi.kinds.parameters import RequestParameter
from openapi.kinds.unions import AnyRequest

_MILLIONTH = Decimal("0.000001")


def request_of(
    asked: StudyAudit,
    made: StudyState,
    requests: RequestBuilder,
    delta: float,
    earlier: Mapping[str, Any] | None = None,
) -> AnyRequest:
    """Return the request of one audit of the study.

    A kind with a probability of error gets `delta`, its share of the study's. `earlier` are the
    results on which the audit depends, by parameter.
    """
    said = {each.name: _said(each, asked, made, delta, earlier or {}) for each in asked.parameters}
    if any(each.levels for each in asked.parameters):
        said["levels"] = getattr(asked, "levels", None)
    request: AnyRequest = requests.of(asked.kind, **said)
    return request


def _said(
    each: RequestParameter,
    asked: StudyAudit,
    made: StudyState,
    delta: float,
    earlier: Mapping[str, Any],
) -> Any:
    match each.role:
        case "audience":
            return made.audiences[asked.audience]
        case "content":
            return made.contents[getattr(asked, each.name)]
        case "contents":
            return [made.contents[name] for name in getattr(asked, each.name)]
        case "error":
            # Round down, to the available number of decimal places.
            return Decimal(str(delta)).quantize(_MILLIONTH, ROUND_DOWN)
        case "audit":
            return earlier.get(each.name)
    return getattr(asked, each.name)
