"""Parts of a charge: sensitivity from bounds, scale and price from sensitivity (format 3).

A charge states each part of its release as name, mechanism, bounds, sensitivity, scale and
parameter. The verifier computes sensitivity, scale and price again, exactly
(`privacy.tables.sensitivity`, `privacy.tables.mechanism_prices`). For the built-in kinds
(`privacy.plans`) it also computes the parts from the signed request and the audience's entry.

If that entry is older than format 3, the numbers of groups are unknown. Then the verifier compares
all that does not depend on them: names, mechanisms, parameters, rules, and whether people displace
others. It reports everything that it cannot compute as a notice.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from privacy.errors import BoundsError, EvidenceError
from privacy.ledger.exact_amounts import parse_amount
from privacy.plans import KindPlan, PlannedTable, PublicAudience
from privacy.tables.declared import declared_numbers, rule_from
from privacy.tables.mechanism_prices import currency_of, exact_price, exact_scale
from privacy.tables.price import FREE, Currency, ExactPrice
from privacy.tables.sensitivity import Reach, Sensitivity

# Reasons why something was not computed again.
NoticeCode = Literal[
    "charge-older",
    "kind-unknown",
    "third-party-bounds",
    "audience-older",
    "rule-unknown",
    "sensitivity-stated",
]
Notice = tuple[NoticeCode, str]
# Members of a request that name things and bound nothing: two charges may differ only in these.
_NAMES = frozenset({"audience_id", "content_id", "mandate_id"})


class StatedNorms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    l1: str
    l2_squared: str
    linf: str


class StatedSensitivity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    add_remove: StatedNorms
    change_one: StatedNorms


class StatedBounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: str
    shape: tuple[int, ...]
    declared: dict[str, str | bool]


class StatedParameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    currency: Currency
    amount: str


class StatedPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part, as a charge states it."""

    name: str
    mechanism: str
    bounds: StatedBounds
    sensitivity: StatedSensitivity
    scale: str
    parameter: StatedParameter


class Checked(msgspec.Struct, frozen=True):
    """Price of the parts, and the claims that were accepted as stated."""

    price: ExactPrice
    notices: tuple[Notice, ...]


class StatedCharge(msgspec.Struct, frozen=True):
    """Everything that determines the price of a charge; other charges repeat it.

    `request` is canonical JSON without its names; `parts` are those that the charge states.
    `audience` is None if the charge names none; `plan` is None if the kind is unknown. `older`: the
    audience's entry is older than format 3, and the numbers of groups are unknown. `third_party`:
    the ledger states that a package added the kind, whose bounds are accepted as stated.
    """

    kind: str
    request: bytes
    parts: bytes
    audience: PublicAudience | None
    plan: KindPlan | None
    older: bool = False
    third_party: bool = False

    @classmethod
    def of(
        cls,
        kind: str,
        request: Mapping[str, Any],
        parts: list[Any],
        audience: PublicAudience | None,
        plan: KindPlan | None,
        *,
        older: bool = False,
        third_party: bool = False,
    ) -> "StatedCharge":
        terms = {name: value for name, value in request.items() if name not in _NAMES}
        return cls(kind, _encode(terms), _encode(parts), audience, plan, older, third_party)


def check_parts(charge: StatedCharge) -> Checked:
    """Return the price of the parts of a charge; raise an error if a number in them does not
    follow.
    """
    kind, audience, plan = charge.kind, charge.audience, charge.plan
    stated, found = _numbers(charge.parts)
    notices = list(found.notices)
    if plan is None:
        notices.append(("third-party-bounds" if charge.third_party else "kind-unknown", kind))
    elif audience is None:
        notices.append(("audience-older", kind))
    else:
        planned = _planned(kind, plan, charge.request, audience)
        _check_planned(planned, stated, older=charge.older)
        if charge.older:
            notices.append(("audience-older", kind))
    return Checked(found.price, tuple(dict.fromkeys(notices)))


def check_numbers(parts: list[Any]) -> Checked:
    """Return the price of a receipt's stated parts, from their own numbers only."""
    return _numbers(_encode(parts))[1]


def _numbers(parts: bytes) -> tuple[list[StatedPart], Checked]:
    try:
        stated = _parts.decode(parts)
        if not stated or len({part.name for part in stated}) != len(stated):
            raise EvidenceError("a charge must have parts with different names", case="part-names")
        found = [_check(part) for part in stated]
    except (BoundsError, msgspec.MsgspecError, ValueError) as error:
        raise EvidenceError(
            f"its parts are invalid: {error}",
            case=getattr(error, "case", None) or "malformed-parts",
        ) from error
    notices = tuple(notice for _, own in found for notice in own)
    return stated, Checked(sum((price for price, _ in found), FREE), notices)


def _planned(
    kind: str, plan: KindPlan, request: bytes, audience: PublicAudience
) -> tuple[PlannedTable, ...]:
    try:
        return plan(_request.decode(request), audience)
    except (BoundsError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise EvidenceError(
            f"its request is not one of {kind}: {error!r}", case="malformed-request"
        ) from error


def _check(part: StatedPart) -> tuple[ExactPrice, list[Notice]]:
    """Return the price of one part, after a check of its sensitivity, scale and price."""
    bounds, parameter = part.bounds, parse_amount(part.parameter.amount)
    if min(bounds.shape, default=0) < 1:
        raise EvidenceError(f"the part {part.name!r} has no cells", case="no-cells")
    stated, notices = _sensitivity(part.sensitivity), list[Notice]()
    rule = rule_from(bounds.rule, bounds.declared)
    if rule is None:
        notices.append(("rule-unknown", bounds.rule))
    elif rule.sensitivity(bounds.shape) != stated:
        raise EvidenceError(
            f"the sensitivity of {part.name!r} does not follow from its bounds",
            case="sensitivity-of-a-part",
        )
    elif bounds.rule == "stated":
        notices.append(("sensitivity-stated", part.name))
    if part.parameter.currency != currency_of(part.mechanism):
        raise EvidenceError(
            f"{part.mechanism} has no parameter in {part.parameter.currency}",
            case="parameter-of-another-mechanism",
        )
    if part.scale != exact_scale(part.mechanism, bounds.shape, stated.added, parameter):
        raise EvidenceError(
            f"the scale of {part.name!r} does not follow from its sensitivity",
            case="scale-of-a-part",
        )
    return exact_price(part.mechanism, stated, parameter), notices


def _check_planned(
    planned: tuple[PlannedTable, ...], stated: list[StatedPart], *, older: bool
) -> None:
    """Raise an error unless the parts are those of the request, in any order.

    `older`: the plan does not know the numbers of groups, on which bounds may depend.
    """
    expected = {part.name: part for part in planned}
    if expected.keys() != {part.name for part in stated}:
        raise EvidenceError(
            f"the signed request has the parts {', '.join(expected)}", case="other-parts-than-asked"
        )
    for part in stated:
        plan = expected[part.name]
        if part.mechanism != plan.mechanism:
            raise EvidenceError(
                f"the mechanism of {part.name!r} is not the one asked for",
                case="mechanism-of-a-part",
            )
        if parse_amount(part.parameter.amount) != plan.parameter:
            raise EvidenceError(
                f"the parameter of {part.name!r} is not the one asked for",
                case="parameter-of-a-part",
            )
        if older:
            _check_displacing(part, plan)
        else:
            _check_bounds(part, plan)


def _check_bounds(part: StatedPart, plan: PlannedTable) -> None:
    rule = plan.bounds.rule
    bounds = (rule.name, tuple(plan.bounds.shape), declared_numbers(rule))
    if (part.bounds.rule, part.bounds.shape, part.bounds.declared) != bounds:
        raise EvidenceError(
            f"the bounds of {part.name!r} do not follow from what was asked",
            case="bounds-of-a-part",
        )


def _check_displacing(part: StatedPart, plan: PlannedTable) -> None:
    """Raise an error if the rule differs, or states the opposite about whether people displace
    others.
    """
    rule = plan.bounds.rule
    if part.bounds.rule != rule.name or _answers(part.bounds.declared) != _answers(
        declared_numbers(rule)
    ):
        raise EvidenceError(
            f"the bounds of {part.name!r} do not follow from the source of the audience",
            case="bounds-of-the-source",
        )


def _answers(declared: Mapping[str, str | bool]) -> dict[str, bool]:
    """Return the declared members that are yes or no, such as `fixed_slots`."""
    return {name: value for name, value in declared.items() if isinstance(value, bool)}


def _sensitivity(stated: StatedSensitivity) -> Sensitivity:
    return Sensitivity(_reach(stated.add_remove), _reach(stated.change_one))


def _reach(norms: StatedNorms) -> Reach:
    return Reach(*(_whole(norm) for norm in (norms.l1, norms.l2_squared, norms.linf)))


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 200 and str(int(text)) == text):
        raise EvidenceError(f"{text[:40]!r} is not a whole number", case="not-a-whole-number")
    return int(text)


_encode = msgspec.json.Encoder(order="sorted").encode
_parts = msgspec.json.Decoder(list[StatedPart])
_request = msgspec.json.Decoder(dict[str, Any])
