"""Prices as they are shown before anything is paid."""

from fractions import Fraction

from sqlmodel import Session

from api.audiences.uploads import groups_of
from api.audits import AudienceFacts
from api.store import AudienceRow
from api.store.types import as_decimal
from openapi.models import EpsilonPrice, Price, PricePart
from privacy import waist
from privacy.price import ADD_REMOVE, CHANGE_ONE
from privacy.price import Price as ExactPrice


def facts_of(session: Session, audience: AudienceRow) -> AudienceFacts:
    """What is public about the audience."""
    groups = groups_of(session, audience.id)
    sizes = tuple(group.known_size for group in groups if group.known_size is not None)
    return AudienceFacts(
        labels=tuple(group.label for group in groups),
        groups_per_person=audience.groups_per_person,
        known_sizes=sizes if len(sizes) == len(groups) else None,
    )


def price_of(question: waist.Question) -> Price:
    """The price of a question, with the error to expect from each of its tables."""
    exact = waist.price(question)
    parts = [
        PricePart(
            name=name,
            mechanism="discrete-laplace",
            scale=mechanism.scale,
            epsilon=_epsilon(mechanism.price),
            standard_deviation=mechanism.standard_deviation,
            error_95=mechanism.error(0.05),
        )
        for name, mechanism in question.items()
    ]
    return Price(epsilon=_epsilon(exact), debit=as_decimal(exact.debit("epsilon")), parts=parts)


def exact_price(price: Price) -> ExactPrice:
    """The price that was charged, as the waist counts it."""
    return ExactPrice.epsilon(
        add_remove=Fraction(price.epsilon.add_remove),
        change_one=Fraction(price.epsilon.change_one),
    )


def _epsilon(price: ExactPrice) -> EpsilonPrice:
    return EpsilonPrice(
        add_remove=as_decimal(price.of("epsilon", ADD_REMOVE)),
        change_one=as_decimal(price.of("epsilon", CHANGE_ONE)),
    )
