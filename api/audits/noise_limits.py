"""Refusal of noise that no release could hold, decided by the upload and the request alone (R2)."""

from fractions import Fraction

from api.db.types import as_decimal
from api.kernel.errors import NoiseTooLargeError
from api.kinds.registry import AudienceFacts, Kind
from openapi.wire_model import MAX_EPSILON
from privacy import waist


def refuse_overflow(kind: Kind, plan: waist.ReleasePlan, facts: AudienceFacts) -> None:
    """Refuse a plan whose release would be clipped with probability above 2⁻⁴⁰.

    A kind whose tables are ciphertexts has the attribute `encrypted`.
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
        f"at {found.parameter} = {as_decimal(found.given)} the noise of table {found.table!r} may"
        f" exceed the numbers of a release, which are within ±(2^53 - 1). Nothing was charged:"
        f" {_advice(found.parameter, smallest)}.",
        table=found.table,
        parameter=found.parameter,
        given=str(as_decimal(found.given)),
        smallest=None if smallest is None else str(as_decimal(smallest)),
    )


def _advice(parameter: str, smallest: Fraction | None) -> str:
    if smallest is None:
        return "ask for fewer people, or for fewer rows per person"
    return f"the smallest {parameter} for this table is {as_decimal(smallest)}"
