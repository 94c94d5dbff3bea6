"""Balances compared with a slow model, on random mandates, charges, refunds and times."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.errors import InvalidLedgerError
from privacy.ledger.verify import verify
from tests.ledgers import BEGIN, HISTOGRAM, Ledger, Maker, charge_of, mandate_body, relied, trust

AMOUNTS = ["0.05", "0.125", "0.166667", "0.5"]


@dataclass
class Spent:
    """One charge of the model."""

    mandate: int
    at: datetime
    debit: Fraction
    rho: Fraction
    entry: int
    refunded: bool = False
    released: bool = False


def within(body: dict[str, Any], mine: list[Spent], at: datetime) -> bool:
    """Whether what was spent of a mandate is within its limits, by their definition."""
    limit = Fraction(body["rho_limit"] or body["epsilon_limit"])
    if body["renewal"] is None:
        return total(mine) <= limit
    length = timedelta(days=body["renewal"]["days"])
    if body["renewal"]["kind"] == "rolling":
        counted = [each for each in mine if each.at > at - length]
    else:
        begin = datetime.fromisoformat(body["valid_from"])
        counted = [each for each in mine if (each.at - begin) // length == (at - begin) // length]
    return total(counted) <= limit and total(mine) <= Fraction(body["lifetime_limit"])


def total(spent: list[Spent]) -> Fraction:
    return sum((each.debit for each in spent if not each.refunded), Fraction(0))


def in_window(spent: list[Spent], at: datetime, days: int) -> Fraction:
    epoch, length = datetime.fromisoformat("1970-01-01T00:00:00Z"), timedelta(days=days)
    now = (at - epoch) // length
    counted = [each for each in spent if (each.at - epoch) // length == now]
    return sum((each.rho for each in counted if not each.refunded), Fraction(0))


@st.composite
def mandates(draw: st.DrawFn) -> dict[str, Any]:
    renewal = draw(
        st.none()
        | st.fixed_dictionaries(
            {"kind": st.sampled_from(["fixed", "rolling"]), "days": st.integers(1, 3)}
        )
    )
    limit = draw(st.sampled_from(["0.5", "1", "2.4"]))
    in_rho = draw(st.booleans())
    return mandate_body(
        kinds=["match-count", "score-histogram"],
        epsilon_limit=None if in_rho else limit,
        rho_limit=limit if in_rho else None,
        renewal=renewal,
        lifetime_limit=draw(st.sampled_from(["1", "3", "9"])) if renewal else None,
        valid_from=(BEGIN - timedelta(hours=draw(st.integers(0, 30)))).isoformat(),
    )


STEPS = st.tuples(
    st.sampled_from(["charge", "charge", "charge", "refund", "release"]),
    st.integers(0, 7),
    st.sampled_from(AMOUNTS),
    st.sampled_from([0, 0, 3, 12, 24, 30]),
)


@settings(max_examples=200)
@given(
    st.lists(mandates(), min_size=1, max_size=2),
    st.lists(STEPS, min_size=5, max_size=40),
    st.sampled_from(["0.7", "3", "100"]),
    st.integers(1, 3),
    st.integers(0, 40),
)
def test_balances_agree_with_the_model(
    granted: list[dict[str, Any]],
    steps: list[tuple[str, int, str, int]],
    platform_rho: str,
    days: int,
    honest: int,
) -> None:
    """For some steps the platform refuses overspending; then it records it."""
    world = World.of(granted, platform_rho, days)
    for number, (action, which, amount, hours) in enumerate(steps):
        # The entry adds a second: so the time is exactly this number of hours later, on the edge.
        world.ledger.at += timedelta(hours=hours, seconds=-1 if hours else 0)
        if action != "charge":
            world.end(which, action)
        elif not world.charge(which % len(granted), amount):
            if number >= honest:
                assert _first_wrong(world.ledger) == len(world.ledger.lines) - 1
                return
            world.undo()
    assert _first_wrong(world.ledger) is None


@dataclass
class World:
    """A ledger, and the model of its balances."""

    ledger: Ledger
    ada: Maker
    granted: list[dict[str, Any]]
    names: list[str]
    platform_rho: Fraction
    days: int
    spent: list[Spent] = field(default_factory=list)

    @classmethod
    def of(cls, granted: list[dict[str, Any]], platform_rho: str, days: int) -> "World":
        ledger = Ledger.begun()
        values = {"platform_rho": platform_rho, "platform_window_days": days}
        ledger.write("settings", {"values": values})
        lab = ledger.auditor()
        names = [ledger.mandate(lab, **body) for body in granted]
        ada = ledger.researcher(lab)
        ledger.seal(lab)
        return cls(ledger, ada, granted, names, Fraction(platform_rho), days)

    def charge(self, mandate: int, amount: str) -> bool:
        """Write a charge, and tell whether everything is within its limits."""
        body = self.granted[mandate]
        one = _charge(self.ledger, self.ada, self.names[mandate], body, mandate, amount)
        self.spent.append(one)
        mine = [each for each in self.spent if each.mandate == mandate]
        together = in_window(self.spent, one.at, self.days)
        return within(body, mine, one.at) and together <= self.platform_rho

    def undo(self) -> None:
        del self.spent[-1], self.ledger.lines[-1]

    def end(self, which: int, action: str) -> None:
        """Release or refund a charge, one of the latest, unless it was already."""
        if not self.spent:
            return
        chosen = self.spent[-1 - which % len(self.spent)]
        if chosen.refunded or chosen.released:
            return
        if action == "refund":
            self.ledger.refund(chosen.entry)
            chosen.refunded = True
        else:
            self.ledger.release(f"audit_{chosen.entry}", self.ada.auditor)
            chosen.released = True


def _charge(
    ledger: Ledger, ada: Maker, name: str, body: dict[str, Any], mandate: int, amount: str
) -> Spent:
    """A match count in epsilon, or a Gaussian histogram in rho."""
    entry, exact = len(ledger.lines), Fraction(amount)
    rho, request = 2 * exact**2, HISTOGRAM | {"kind": "match-count", "epsilon": amount}
    if body["rho_limit"] is not None:
        rho, request = 2 * exact, HISTOGRAM | {"mechanism": "discrete-gaussian", "epsilon": None}
        request |= {"size_epsilon": None, "rho": amount, "size_rho": "0"}
    asked, facts = charge_of(request, f"charge_{entry}", f"audit_{entry}", name)
    assert Fraction(facts["rho"]["change_one"]) == rho
    ledger.stated(ada, "charge", asked, facts, ada.auditor)
    return Spent(mandate, ledger.at, Fraction(facts["debit"]), rho, entry)


def _first_wrong(ledger: Ledger) -> int | None:
    try:
        verify(*relied(ledger.lines), trust())
    except InvalidLedgerError as error:
        return error.number
    return None
