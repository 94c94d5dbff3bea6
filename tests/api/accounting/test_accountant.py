"""The accountant against a slow, obvious model, step by step on a real SQLite."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from api.kernel.errors import ConflictError, RefusalError
from tests.api.accounting.accounts import Accounts, at_time
from tests.api.accounting.model import Charge, Cost, Mandate, Model

PLATFORM, CAP = Fraction(5, 2), Fraction(1)
# Neighbours, and people of three blocks: numbers are stored a thousand to a row.
PEOPLE = (0, 1, 2, 3, 1023, 1024, 5000)

# What one person may change is at least doubled when they change, so millionths come in pairs.
costs = st.one_of(
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2, 10**6)]).map(
        lambda epsilon: Cost(epsilon, epsilon**2 / 2)
    ),
    st.sampled_from([Fraction(1, 8), Fraction(1, 2), Fraction(1, 10**6)]).map(
        lambda rho: Cost(None, rho)
    ),
)
# Whole days most of the time, so that something happens exactly where a window begins or ends.
steps = st.sampled_from([24, 24, 48, 72, 1, 30, 240, 720, -1, -24, -72, -800])


@st.composite
def mandates(draw: st.DrawFn, name: str, renewal: str | None) -> Mandate:
    """Most are in force for long; some end soon, or have not begun."""
    begins = draw(st.sampled_from([-240, -48, -48, 0, 30]))
    return Mandate(
        name=name,
        currency=draw(st.sampled_from(["epsilon", "rho"])),
        limit=draw(st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(3)])),
        begins=begins,
        ends=begins + draw(st.sampled_from([9600, 9600, 480, 72])),
        renewal=renewal,
        days=draw(st.integers(1, 3)) if renewal else 0,
        lifetime=draw(st.sampled_from([Fraction(2), Fraction(10)])) if renewal else None,
    )


class Accountant(RuleBasedStateMachine):
    audits: Bundle[tuple[str, Charge]] = Bundle("audits")

    def __init__(self) -> None:
        super().__init__()
        self.accounts = Accounts.open(PLATFORM, CAP)
        self.clock = 0
        self.erased: set[str] = set()
        self.pending: dict[str, str] = {}

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        renewals = (None, "fixed", "rolling")
        granted = [data.draw(mandates(f"m{n}", renewal)) for n, renewal in enumerate(renewals)]
        audiences = {f"a{number}": self._seal(data, f"a{number}") for number in range(3)}
        self.model = Model(PLATFORM, CAP, granted, audiences)
        for mandate in granted:
            self.accounts.grant(mandate)

    def _seal(self, data: st.DataObject, name: str) -> set[int]:
        several = data.draw(st.booleans())
        first = data.draw(st.sets(st.sampled_from(PEOPLE), min_size=2))
        second = data.draw(st.sets(st.sampled_from(PEOPLE)))
        groups = {"g0": first, "g1": second if several else second - first}
        self.accounts.seal(name, groups, 2 if several else 1)
        return first | second

    @rule(hours=steps)
    def turn_the_clock(self, hours: int) -> None:
        self.clock += hours

    @rule(target=audits, data=st.data(), cost=costs)
    def charge_whichever_pays(self, data: st.DataObject, cost: Cost) -> Any:
        return self._charge(data, cost, None)

    @rule(target=audits, data=st.data(), cost=costs, named=st.sampled_from([0, 1, 2]))
    def charge_one(self, data: st.DataObject, cost: Cost, named: int) -> Any:
        return self._charge(data, cost, self.model.mandates[named])

    def _charge(self, data: st.DataObject, cost: Cost, mandate: Mandate | None) -> Any:
        alive = sorted(self.model.audiences.keys() - self.erased)
        audience = data.draw(st.sampled_from(alive))
        expected = self.model.charge(self.clock, audience, cost, mandate)
        try:
            with at_time(lambda: self.clock):
                audit_id = self.accounts.charge(audience, cost, mandate.name if mandate else None)
        except RefusalError as refusal:
            answer = refusal.code
        else:
            answer = "charged"
        assert answer == (expected if isinstance(expected, str) else "charged")
        if isinstance(expected, str):
            return multiple()
        assert self.accounts.bearers(audit_id) == expected.bearers
        self.pending[audit_id] = audience
        return audit_id, expected

    @rule(audit=consumes(audits))
    def refund(self, audit: tuple[str, Charge]) -> None:
        audit_id, charge = audit
        self.model.refund(self.clock, charge)
        with at_time(lambda: self.clock):
            self.accounts.refund(audit_id)
        del self.pending[audit_id]

    @rule(audit=consumes(audits))
    def release(self, audit: tuple[str, Charge]) -> None:
        self.accounts.release(audit[0])
        del self.pending[audit[0]]

    @precondition(lambda self: len(self.erased) < 2)
    @rule(name=st.sampled_from(["a0", "a1", "a2"]))
    def erase(self, name: str) -> None:
        """Members are forgotten, but not what they bore; not while an audit needs them."""
        try:
            with at_time(lambda: self.clock):
                self.accounts.erase(name)
        except ConflictError:
            assert name in self.pending.values()
            return
        assert name not in self.pending.values()
        if name not in self.erased:
            self.model.touch(self.clock)
        self.erased.add(name)
        assert self.accounts.everyone(name) == set()

    @invariant()
    def mandates_agree(self) -> None:
        for mandate in self.model.mandates:
            at = max(self.clock, self.model.latest)
            expected = self.model.spent(mandate), self.model.remaining(mandate, at)
            assert self.accounts.mandate(mandate.name, at) == expected
            assert expected[1] >= 0
            assert mandate.lifetime is None or expected[0] <= mandate.lifetime

    @invariant()
    def no_stretch_holds_more_than_it_may(self) -> None:
        """`rolling`: any span of the period's length holds the limit at most; `fixed`: twice
        that.
        """
        for mandate in self.model.mandates:
            if mandate.renewal is None:
                continue
            mine = [c for c in self.model.charges if c.kept and c.mandate == mandate]
            for first in mine:
                until = first.at + mandate.days * 24
                held = sum(c.debit for c in mine if first.at <= c.at < until)
                assert held <= mandate.limit * (2 if mandate.renewal == "fixed" else 1)

    @invariant()
    def the_platform_agrees(self) -> None:
        _, spent, latest = self.accounts.platform()
        assert spent == self.model.platform(self.model.latest) <= PLATFORM
        assert not self.model.charges or latest == self.model.latest

    @invariant()
    def people_agree(self) -> None:
        expected = {who: self.model.borne(who) for who in PEOPLE if self.model.borne(who)}
        assert self.accounts.balances() == expected
        assert all(borne <= CAP for borne in expected.values())
        assert self.accounts.sound()

    def teardown(self) -> None:
        self.accounts.close()


# Without the phase that explains failures, which traces every line and takes minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)


def check(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        Accountant,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_accountant_agrees_with_the_model() -> None:
    check(examples=20, steps=25)


@pytest.mark.full
@pytest.mark.timeout(1_800)
def test_the_accountant_agrees_with_the_model_at_length() -> None:
    check(examples=300, steps=50)
