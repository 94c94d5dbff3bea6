"""Assumptions on which the promise of a charge rests, from its request and its audience alone.

A charge and a receipt list them under `assumes`; docs/explanation/guarantee.md says what each
leaves out.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

Assumption = Literal["bounded-weights", "uncounted-displacement", "other-people-in-rows"]
# Weights that the platform cannot see are as declared; a regulator can open the run.
BOUNDED_WEIGHTS: Final = "bounded-weights"
# People displace each other. The price of a release covers this. The lifetime cap does not count
# somebody who displaces another and is not debited, because nobody named them or they are above it.
UNCOUNTED_DISPLACEMENT: Final = "uncounted-displacement"
# A row of a log belongs to one person and may be about others. Those are not protected by it, nor
# is it counted that others would have been ranked differently without a person.
OTHER_PEOPLE_IN_ROWS: Final = "other-people-in-rows"
_HIDES_WEIGHTS = "two-party"
_OF_ROWS = frozenset({"outcome-test", "log-cdf", "bias-size", "reo"})
# The one metric of a two-party audit that reads no rows.
_OF_SCORES = "score-histogram"


def assumptions(request: Mapping[str, Any], *, fixed_slots: bool) -> list[Assumption]:
    """Return what a charge of this request assumes, in the order of the list.

    `fixed_slots`: whether people of the audience displace each other.
    """
    found: list[Assumption] = []
    if request["kind"] == _HIDES_WEIGHTS:
        found.append(BOUNDED_WEIGHTS)
    if fixed_slots:
        found.append(UNCOUNTED_DISPLACEMENT)
    if _reads_rows(request):
        found.append(OTHER_PEOPLE_IN_ROWS)
    return found


def assumptions_before(kind: str) -> list[Assumption]:
    """Return what a charge older than format 3 lists: neither displacement nor others in rows."""
    return [BOUNDED_WEIGHTS] if kind == _HIDES_WEIGHTS else []


def _reads_rows(request: Mapping[str, Any]) -> bool:
    if request["kind"] != _HIDES_WEIGHTS:
        return request["kind"] in _OF_ROWS
    metric = request.get("metric")
    return not (isinstance(metric, Mapping) and metric.get("name") == _OF_SCORES)
