"""Spending and remaining budget of each mandate over time, from the auditor's own entries.

The ledger has the times of charges and refunds; the mandate has the rule of renewal. Together they
give the budget available at every moment, as the service computes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from openapi.resources import Entry, Mandate


@dataclass(frozen=True, slots=True)
class Moment:
    """Total spent since the mandate began, and the remaining budget, from this instant on."""

    at: datetime
    spent: Decimal
    remaining: Decimal


@dataclass(frozen=True, slots=True)
class BurnDown:
    """Changes of one mandate over time (the last moment is now), and the latest price paid."""

    mandate: Mandate
    moments: tuple[Moment, ...]
    latest: Decimal | None

    @property
    def remaining(self) -> Decimal:
        return self.moments[-1].remaining

    def buys(self, debit: Decimal | None = None) -> int | None:
        """Return the number of further audits at this price (default: the latest price; None if
        there is none).
        """
        price = self.latest if debit is None else debit
        return None if not price else int(max(self.remaining, Decimal(0)) // price)


@dataclass(frozen=True, slots=True)
class _Charge:
    at: datetime
    debit: Decimal
    returned: datetime | None

    def counts(self, at: datetime) -> bool:
        return self.at <= at and (self.returned is None or at < self.returned)


def burn_down(mandate: Mandate, entries: Iterable[Entry], now: datetime) -> BurnDown:
    """Return the burn-down from charges and refunds of this and other mandates, in any order."""
    charges = sorted(_charges(mandate.id, list(entries)), key=lambda charge: charge.at)
    # Another machine's clock wrote the times of the entries.
    last = max([now, mandate.valid_from, *(charge.at for charge in charges)])
    instants = sorted({mandate.valid_from, *_changes(mandate, charges, last), last})
    moments = tuple(_moment(mandate, charges, at) for at in instants)
    return BurnDown(mandate, moments, charges[-1].debit if charges else None)


def _charges(mandate_id: str, entries: Sequence[Entry]) -> list[_Charge]:
    returned = {entry.facts["charge_id"]: entry.at for entry in entries if entry.kind == "refund"}
    return [
        _Charge(entry.at, Decimal(entry.facts["debit"]), returned.get(entry.facts["charge_id"]))
        for entry in entries
        if entry.kind == "charge" and entry.facts["mandate_id"] == mandate_id
    ]


def _changes(mandate: Mandate, charges: Sequence[_Charge], last: datetime) -> set[datetime]:
    """Return the times and amounts of charges, refunds and renewals."""
    found = {charge.at for charge in charges}
    found |= {charge.returned for charge in charges if charge.returned is not None}
    if mandate.renewal is not None and mandate.renewal.kind == "rolling":
        found |= {charge.at + timedelta(days=mandate.renewal.days) for charge in charges}
    if mandate.renewal is not None and mandate.renewal.kind == "fixed":
        length = timedelta(days=mandate.renewal.days)
        periods = max((last - mandate.valid_from) // length, 0)
        found |= {mandate.valid_from + length * k for k in range(1, periods + 1)}
    return {at for at in found if at <= last}


def _moment(mandate: Mandate, charges: Sequence[_Charge], at: datetime) -> Moment:
    counted = [charge for charge in charges if charge.counts(at)]
    spent = _sum(counted)
    remaining = limit_of(mandate) - _sum(
        c for c in counted if _counts_against_limit(mandate, c, at)
    )
    if mandate.lifetime_limit is not None:
        remaining = min(remaining, mandate.lifetime_limit - spent)
    return Moment(at, spent, remaining)


def _counts_against_limit(mandate: Mandate, charge: _Charge, at: datetime) -> bool:
    """Tell whether the charge still counts against the limit, or a renewal has restored it."""
    if mandate.renewal is None:
        return True
    length = timedelta(days=mandate.renewal.days)
    if mandate.renewal.kind == "rolling":
        return charge.at > at - length
    return (charge.at - mandate.valid_from) // length == (at - mandate.valid_from) // length


def limit_of(mandate: Mandate) -> Decimal:
    """Return the limit in the mandate's own currency."""
    limit = mandate.rho_limit if mandate.epsilon_limit is None else mandate.epsilon_limit
    return Decimal(0) if limit is None else limit


def _sum(charges: Iterable[_Charge]) -> Decimal:
    return sum((charge.debit for charge in charges), Decimal(0))
