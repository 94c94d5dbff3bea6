"""Check of the price that a charge must have.

In format 3 it is the sum of the prices of its parts (`privacy.ledger.parts`). Older charges state
no parts. Their rule was one for all kinds of that time: every mechanism was calibrated to the
requested epsilon (or rho) under add/remove, and changing one person cost twice that. The number of
scored people was a separate table, unless the audience's entry stated that it was known. An audit
of envy bought the sum of steps and the cost in addition to its counts.

The loss of people by exploration is not a price of privacy: it has no relation, and nothing
doubles. It follows from the statement alone, as the declared worst case of every target.

[BS16] Bun, Steinke, arXiv:1605.02065 (ε-DP is ε²/2-zCDP; composition adds).
"""

from fractions import Fraction
from functools import lru_cache

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.entry_schemas import Both, ChargeBody, ChargeFacts, Sizes
from privacy.ledger.exact_amounts import parse_amount, parse_units
from privacy.ledger.parts import Notice, StatedCharge, check_parts
from privacy.plans import PLANS
from privacy.tables.price import (
    ADD_REMOVE,
    CHANGE_ONE,
    FREE,
    INFINITE,
    Amount,
    Currency,
    ExactPrice,
    Relation,
)

RELATIONS: tuple[Relation, ...] = (ADD_REMOVE, CHANGE_ONE)


class PricedFields(msgspec.Struct, frozen=True):
    kind: str
    mechanism: str | None
    epsilon: str | None
    size_epsilon: str | None
    rho: str | None
    size_rho: str | None
    duration_epsilon: str | None
    cost_epsilon: str | None
    sizes: Sizes | None


def check_debit(
    charge: StatedCharge, facts: ChargeFacts
) -> tuple[tuple[int, int], tuple[Notice, ...]]:
    """Return the debits of a charge from the mandate and from the platform's account, in units.

    Raise an error if its price is not that of its parts. The notices list the claims accepted as
    stated.
    """
    return _debited_parts(charge, facts.epsilon, facts.rho, facts.currency, facts.debit)


@lru_cache(maxsize=16_384)
def _debited_parts(
    charge: StatedCharge, epsilon: Both | None, rho: Both, currency: Currency, debit: str
) -> tuple[tuple[int, int], tuple[Notice, ...]]:
    found, paid = check_parts(charge), _paid(epsilon, rho)
    _check_consistent(paid)
    _check_worth(paid, found.price)
    _check_debit(paid, currency, debit)
    return (parse_units(debit), parse_units(rho.change_one)), found.notices


def check_older_debit(body: ChargeBody, facts: ChargeFacts, sizes: Sizes | None) -> tuple[int, int]:
    """Return the debits of a charge older than format 3, by the rule of that time."""
    asked = PricedFields(
        body.kind,
        body.mechanism,
        body.epsilon,
        body.size_epsilon,
        body.rho,
        body.size_rho,
        body.duration_epsilon,
        body.cost_epsilon,
        sizes,
    )
    return _debited(asked, facts.epsilon, facts.rho, facts.currency, facts.debit)


def check_exploration(body: ChargeBody, facts: ChargeFacts) -> int:
    """Return what a charge debits from the mandate's exploration limit, in units."""
    plan = PLANS.get(body.kind)
    explores = plan is not None and plan.explores
    if not explores and not parse_units(facts.exploration_loss):
        return 0
    # α·T for each target
    worst = parse_amount(body.alpha or "0") * body.steps * body.targets
    if not explores or parse_amount(facts.exploration_loss) != worst:
        raise EvidenceError(
            f"people may lose {facts.exploration_loss} by it, which differs from the "
            "signed request",
            case="another-loss-than-asked",
        )
    return parse_units(facts.exploration_loss)


@lru_cache(maxsize=65_536)
def _debited(
    asked: PricedFields, epsilon: Both | None, rho: Both, currency: Currency, debit: str
) -> tuple[int, int]:
    paid = _paid(epsilon, rho)
    _check_consistent(paid)
    _check_asked(asked, paid)
    _check_debit(paid, currency, debit)
    return parse_units(debit), parse_units(rho.change_one)


def _check_debit(paid: ExactPrice, currency: Currency, debit: str) -> None:
    if parse_amount(debit) != paid.debit(currency):
        raise EvidenceError(
            f"it debits {debit}, which is not the change-one price in {currency}",
            case="not-the-change-one-price",
        )


def _paid(epsilon: Both | None, rho: Both) -> ExactPrice:
    (epsilon_added, epsilon_changed), (rho_added, rho_changed) = _both(epsilon), _both(rho)
    return ExactPrice(
        {
            ("epsilon", ADD_REMOVE): epsilon_added,
            ("epsilon", CHANGE_ONE): epsilon_changed,
            ("rho", ADD_REMOVE): rho_added,
            ("rho", CHANGE_ONE): rho_changed,
        }
    )


def _both(price: Both | None) -> tuple[Amount, Amount]:
    if price is None:
        return INFINITE, INFINITE
    return parse_amount(price.add_remove), parse_amount(price.change_one)


def _check_consistent(paid: ExactPrice) -> None:
    """Raise an error if the price violates a rule that holds for every release."""
    if paid.amount("epsilon", CHANGE_ONE) < paid.amount("epsilon", ADD_REMOVE):
        raise EvidenceError(
            "changing one person costs less epsilon than adding one",
            case="change-one-below-add-remove-epsilon",
        )
    # The lifetime cap holds under change-one because of this: docs/explanation/guarantee.md.
    if paid.amount("rho", CHANGE_ONE) < 2 * paid.amount("rho", ADD_REMOVE):
        raise EvidenceError(
            "changing one person costs less rho than adding one and removing one",
            case="change-one-below-add-remove-rho",
        )
    for relation in RELATIONS:
        # rho ≤ epsilon² / 2, with equality for a single table   [BS16]
        if 2 * paid.amount("rho", relation) > paid.amount("epsilon", relation) ** 2:
            raise EvidenceError("its rho is more than its epsilon² / 2", case="rho-above-epsilon")


def _check_asked(asked: PricedFields, paid: ExactPrice) -> None:
    _check_worth(paid, _price(asked, _parameters(asked)))


def _check_worth(paid: ExactPrice, worth: ExactPrice) -> None:
    if not paid.covers(worth):
        raise EvidenceError("it costs less than the signed request", case="underpriced")
    if not worth.covers(paid):
        raise EvidenceError("it costs more than the signed request", case="overpriced")


def _price(asked: PricedFields, parameters: list[Fraction]) -> ExactPrice:
    make = ExactPrice.epsilon if asked.rho is None else ExactPrice.rho
    return sum((make(add_remove=each, change_one=2 * each) for each in parameters), FREE)


def _parameters(asked: PricedFields) -> list[Fraction]:
    """Return epsilon or rho of the audit, and that of the sizes if they are bought."""
    main, sizes = (
        (asked.epsilon, asked.size_epsilon) if asked.rho is None else (asked.rho, asked.size_rho)
    )
    if main is None:
        return []
    plan = PLANS.get(asked.kind)
    if plan and plan.explores:
        shares = (asked.duration_epsilon, asked.cost_epsilon)
        return [parse_amount(main), *(_sizes(parse_amount(main), share, 4) for share in shares)]
    if plan is None or not plan.buys_sizes or asked.sizes == "known":
        return [parse_amount(main)]
    return [parse_amount(main), _sizes(parse_amount(main), sizes, 4 if asked.rho is None else 16)]


def _sizes(main: Fraction, told: str | None, part: int) -> Fraction:
    """Return the given value (default: a quarter of epsilon, or a sixteenth of rho)."""
    if told is not None:
        return parse_amount(told)
    return Fraction(max(1, int(main * 1_000_000) // part), 1_000_000)
