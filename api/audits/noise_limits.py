"""Refusal of noise that no release could hold, by what was uploaded and asked for alone (R2)."""

from fractions import Fraction

from api.db.types import as_decimal
from api.kernel.errors import NoiseTooLargeError
from api.kinds.registry import AudienceFacts, Kind
from openapi.wire_model import MAX_EPSILON
from privacy import waist


def refuse_overflow(kind: Kind, plan: waist.ReleasePlan, facts: AudienceFacts) -> None:
    """Refuse a plan whose release would be clipped with probability above 2⁻⁴⁰.

    A kind whose tables are ciphertexts says so by `encrypted`.
    """
    people = max(facts.members, facts.candidates or 0)
    encrypted = bool(getattr(kind, "encrypted", False))
    found = waist.find_overflow(tuple(plan.items()), people, encrypted=encrypted)
    if found is None:
        return
    smallest = found.smallest
    if smallest is not None and smallest > MAX_EPSILON:
        smallest = None
    raise NoiseTooLargeError(
        f"at {found.parameter} = {as_decimal(found.given)} the table {found.table!r} may leave the"
        f" numbers that a release can hold, within ±(2^53 - 1). Nothing was charged:"
        f" {_advice(found.parameter, smallest)}.",
        table=found.table,
        parameter=found.parameter,
        given=str(as_decimal(found.given)),
        smallest=None if smallest is None else str(as_decimal(smallest)),
    )


def _advice(parameter: str, smallest: Fraction | None) -> str:
    if smallest is None:
        return "ask for fewer people, or for fewer rows of each"
    return f"the smallest {parameter} for this table is {as_decimal(smallest)}"
