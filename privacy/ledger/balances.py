"""Balances in whole units: the remaining amounts of each mandate and of the platform's account over
time.

The rules are those of the service (`api/mandates/budgets.py`, `api/accounting/charge.py`),
implemented independently a second time.
"""

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.entry_schemas import MandateBody, MandateChange
from privacy.ledger.exact_amounts import DAY, parse_amount, parse_microseconds, parse_units
from privacy.tables.price import Currency


class ChargeBalance(msgspec.Struct, gc=False):
    """Charge of one audit, and its later state.

    `period` is the mandate's period in which it was debited.
    """

    charge_id: str
    mandate_id: str
    debit: int
    rho: int
    at: int
    period: int = 0
    exploration: int = 0
    state: str = "charged"
    refunded: bool = False
    stopped: bool = False


@dataclass(slots=True)
class MandateBalance:
    """Amounts of one mandate: granted and spent.

    `used` is the amount that counts against the limit now: over the mandate's whole life, over the
    period, or over the charges in `recent`, which are those after `since`. `explored` is the reward
    that people may have lost, out of `explorable`, which never renews.
    """

    mandate_id: str
    auditor: str
    kinds: frozenset[str]
    people: frozenset[str] | None
    currency: Currency
    limit: int
    lifetime: int | None
    renewal: str | None
    length: int
    starts: int
    ends: int
    explorable: int = 0
    # Share of two-party runs that are opened before their delivery.
    opened: Fraction = Fraction(1)
    explored: int = 0
    state: str = "in force"
    spent: int = 0
    used: int = 0
    period: int = 0
    since: int = -(2**63)
    recent: deque[ChargeBalance] = field(default_factory=deque)

    @classmethod
    def granted(cls, mandate_id: str, auditor: str, body: MandateBody) -> "MandateBalance":
        if (body.epsilon_limit is None) == (body.rho_limit is None):
            raise EvidenceError(
                "a mandate must have a limit in either epsilon or rho", case="one-limit"
            )
        if (body.renewal is None) != (body.lifetime_limit is None):
            raise EvidenceError(
                "a mandate must have both a renewal and a lifetime limit, or neither",
                case="lifetime-limit-of-a-renewing-limit",
            )
        if body.renewal is not None and body.renewal.days < 1:
            raise EvidenceError(
                "a limit must renew after at least one day", case="renewal-under-a-day"
            )
        return cls(
            mandate_id=mandate_id,
            auditor=auditor,
            kinds=frozenset(body.kinds),
            people=None if body.researcher_ids is None else frozenset(body.researcher_ids),
            currency="epsilon" if body.rho_limit is None else "rho",
            limit=parse_units(body.rho_limit or body.epsilon_limit or "0"),
            lifetime=None if body.lifetime_limit is None else parse_units(body.lifetime_limit),
            renewal=None if body.renewal is None else body.renewal.kind,
            length=0 if body.renewal is None else body.renewal.days * DAY,
            starts=parse_microseconds(body.valid_from),
            ends=parse_microseconds(body.valid_until),
            explorable=parse_units(body.exploration_limit),
            opened=parse_amount(body.opened_share),
        )

    def change(self, to: MandateChange) -> None:
        limit, other = to.epsilon_limit, to.rho_limit
        if self.currency == "rho":
            limit, other = other, limit
        if other is not None or (self.lifetime is None and to.lifetime_limit is not None):
            raise EvidenceError("the mandate has no such limit to change", case="no-such-limit")
        if limit is not None:
            self.limit = parse_units(limit)
        if to.lifetime_limit is not None:
            self.lifetime = parse_units(to.lifetime_limit)
        if to.exploration_limit is not None:
            self.explorable = parse_units(to.exploration_limit)
        if to.kinds is not None:
            self.kinds = frozenset(to.kinds)
        if to.valid_until is not None:
            self.ends = parse_microseconds(to.valid_until)

    def set_state(self, state: str) -> None:
        """Suspend, resume or terminate the mandate; a termination is final."""
        if self.state == "terminated":
            raise EvidenceError("the mandate was terminated", case="terminated-before")
        self.state = state

    def check(self, auditor: str | None, researcher: str, kind: str, at: int) -> None:
        """Raise an error unless this individual may charge this audit to the mandate at this
        time.
        """
        if self.auditor != auditor:
            raise EvidenceError(
                "the mandate belongs to another auditor", case="mandate-of-another-auditor"
            )
        if self.state != "in force":
            raise EvidenceError(f"the mandate is {self.state}", case=f"mandate-{self.state}")
        if not self.starts <= at < self.ends:
            raise EvidenceError(
                "the mandate is not in force at that time", case="mandate-not-in-force"
            )
        if kind not in self.kinds:
            raise EvidenceError(f"the mandate does not allow {kind}", case="kind-not-allowed")
        if self.people is not None and researcher not in self.people:
            raise EvidenceError(
                f"the mandate does not allow {researcher} to spend it",
                case="researcher-not-allowed",
            )

    def debit(self, charge: ChargeBalance) -> None:
        """Debit the charge from the balance at its time."""
        self._move_on(charge.at)
        self.used += charge.debit
        self.spent += charge.debit
        self.explored += charge.exploration
        charge.period = self.period
        if self.renewal == "rolling":
            self.recent.append(charge)
        if self.used > self.limit:
            raise EvidenceError("the mandate is overspent", case="overspent")
        if self.lifetime is not None and self.spent > self.lifetime:
            raise EvidenceError(
                "the lifetime limit of the mandate is overspent", case="lifetime-overspent"
            )
        if charge.exploration and self.explored > self.explorable:
            raise EvidenceError(
                "people may lose more reward than the mandate allows", case="exploration-overspent"
            )

    def refund(self, charge: ChargeBalance) -> None:
        """Refund a charge at the time of its debit."""
        self.spent -= charge.debit
        self.explored -= charge.exploration
        if charge.period == self.period and charge.at > self.since:
            self.used -= charge.debit

    def _move_on(self, at: int) -> None:
        if self.renewal == "fixed":
            period = (at - self.starts) // self.length
            if period > self.period:
                self.period, self.used = period, 0
        elif self.renewal == "rolling":
            self.since = at - self.length
            while self.recent and self.recent[0].at <= self.since:
                old = self.recent.popleft()
                self.used -= 0 if old.refunded else old.debit


@dataclass(slots=True)
class Account:
    """Total debit of all audits in the window, and its cap, which is unknown until an entry states
    it.
    """

    limit: int | None = None
    length: int = 30 * DAY
    window: int = -1
    spent: int = 0

    def debit(self, rho: int, at: int) -> None:
        window = at // self.length
        if window > self.window:
            self.window, self.spent = window, 0
        self.spent += rho
        if self.limit is not None and self.spent > self.limit:
            raise EvidenceError(
                "the platform's account is overspent in this window", case="platform-overspent"
            )

    def refund(self, rho: int, charged_at: int) -> None:
        if charged_at // self.length == self.window:
            self.spent -= rho
