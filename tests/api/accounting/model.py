"""The accountant, slow and obvious: a list of charges, and every question answered by adding it up.

Nothing is kept but what happened. Times are hours since the beginning.
"""

from dataclasses import dataclass, field
from fractions import Fraction

HOURS_A_DAY = 24
PLATFORM_WINDOW = 30 * HOURS_A_DAY
# Hours from the start to the end of the platform's first window.
FIRST_WINDOW_ENDS = 10 * HOURS_A_DAY


@dataclass(frozen=True)
class Cost:
    """The price of an audit; no epsilon where there is none."""

    epsilon: Fraction | None
    rho: Fraction

    def debit(self, currency: str) -> Fraction | None:
        return self.epsilon if currency == "epsilon" else self.rho


@dataclass(frozen=True)
class Mandate:
    name: str
    currency: str
    limit: Fraction
    begins: int
    ends: int
    renewal: str | None = None
    days: int = 0
    lifetime: Fraction | None = None

    def period(self, at: int) -> int:
        return (at - self.begins) // (self.days * HOURS_A_DAY)


@dataclass
class Charge:
    mandate: Mandate
    cost: Cost
    at: int
    audience: str
    bearers: set[int]
    left_out: set[int]
    kept: bool = True

    @property
    def debit(self) -> Fraction:
        debit = self.cost.debit(self.mandate.currency)
        assert debit is not None
        return debit


@dataclass
class Model:
    platform_limit: Fraction
    person_cap: Fraction
    mandates: list[Mandate]
    audiences: dict[str, set[int]]
    charges: list[Charge] = field(default_factory=list)
    # The latest change of the ledger: its time does not run backwards.
    latest: int = -1_000_000

    def spent(self, mandate: Mandate) -> Fraction:
        return sum((c.debit for c in self._kept() if c.mandate == mandate), Fraction(0))

    def remaining(self, mandate: Mandate, at: int) -> Fraction:
        mine = [charge for charge in self._kept() if charge.mandate == mandate]
        if mandate.renewal == "fixed":
            mine = [c for c in mine if mandate.period(c.at) == mandate.period(at)]
        elif mandate.renewal == "rolling":
            mine = [c for c in mine if c.at > at - mandate.days * HOURS_A_DAY]
        left = mandate.limit - sum((c.debit for c in mine), Fraction(0))
        if mandate.lifetime is not None:
            left = min(left, mandate.lifetime - self.spent(mandate))
        return left

    def platform(self, at: int) -> Fraction:
        return sum((c.cost.rho for c in self._kept() if window(c.at) == window(at)), Fraction(0))

    def borne(self, person: int) -> Fraction:
        return sum((c.cost.rho for c in self._kept() if person in c.bearers), Fraction(0))

    def charge(self, clock: int, audience: str, cost: Cost, named: Mandate | None) -> str | Charge:
        """The charge, or the code of the refusal."""
        at = max(self.latest, clock)
        among = [named] if named else self.mandates
        paying = [mandate for mandate in among if cost.debit(mandate.currency) is not None]
        in_force = [mandate for mandate in paying if mandate.begins <= at < mandate.ends]
        if not in_force:
            return _why_none(paying, at)
        in_force.sort(key=lambda mandate: (mandate.ends, mandate.name))
        able = [m for m in in_force if _amount(cost, m) <= self.remaining(m, at)]
        mandate = (able or in_force)[0]
        if not able:
            above = _amount(cost, mandate) > mandate.limit
            return "epsilon-above-mandate" if above else "budget-exhausted"
        if self.platform(at) + cost.rho > self.platform_limit:
            return "platform-exhausted"
        everybody = self.audiences[audience]
        bearers = {who for who in everybody if self.borne(who) + cost.rho <= self.person_cap}
        charge = Charge(mandate, cost, at, audience, bearers, everybody - bearers)
        self.charges.append(charge)
        self.latest = at
        return charge

    def refund(self, clock: int, charge: Charge) -> None:
        self.latest = max(self.latest, clock)
        charge.kept = False

    def touch(self, clock: int) -> None:
        self.latest = max(self.latest, clock)

    def _kept(self) -> list[Charge]:
        return [charge for charge in self.charges if charge.kept]


def window(at: int) -> int:
    return (at - FIRST_WINDOW_ENDS) // PLATFORM_WINDOW


def _amount(cost: Cost, mandate: Mandate) -> Fraction:
    amount = cost.debit(mandate.currency)
    assert amount is not None
    return amount


def _why_none(paying: list[Mandate], at: int) -> str:
    if any(at < mandate.begins for mandate in paying):
        return "mandate-not-yet-valid"
    return "mandate-expired" if paying else "no-mandate"
