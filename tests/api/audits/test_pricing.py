"""Facts and prices as they are shown: what a price depends on, and in which currency it is due."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from api.accounting.prices import exact_price
from api.audits import request_pricing
from api.audits.pricing import load_audience_facts, price_plan, require_currency
from api.audits.request_pricing import AuditSubject, price_request
from api.db import AudienceRow
from api.kernel.clock import EPOCH
from api.kernel.errors import UnsupportedAudienceError
from api.kinds.balance_histogram import BalanceHistogram
from api.kinds.protocol import KNOWN_AT_CHARGE, Source
from api.kinds.registry import AudienceFacts
from api.platforms.interfaces import Platform
from openapi.resources import BalanceHistogramRequest
from privacy.tables.bounded_table import Bounds
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, INFINITE
from privacy.waist import DiscreteGaussian, DiscreteLaplace, ReleasePlan
from tests.api.accounting.accounts import Accounts
from tests.world import make_settings

BOUNDS = Bounds.counts((2,), 1)
LAPLACE = {
    "one": DiscreteLaplace(BOUNDS, Fraction(1, 2)),
    "two": DiscreteLaplace(BOUNDS, Fraction(1, 4)),
}
REQUEST = BalanceHistogramRequest.model_validate(
    {
        "kind": "balance-histogram",
        "audience_id": f"audience_{'0' * 30}",
        "bins": {"edges": [0, 1]},
        "epsilon": "1",
    }
)
GAUSSIAN = {"one": DiscreteGaussian(BOUNDS, Fraction(1, 2))}


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts.open(platform_limit=Fraction(2), person_cap=Fraction(1))
    yield accounts
    accounts.close()


def subject_of(source: Source) -> AuditSubject:
    audience = AudienceRow(
        id="a",
        auditor_id="lab",
        researcher_id="ada",
        state="sealed",
        source=source,
        groups_per_person=1,
        created_at=EPOCH,
        expires_at=EPOCH,
    )
    slots = source in ("sample", "hidden")
    facts = AudienceFacts(("g0",), 1, None, fixed_slots=slots, source=source, members=5)
    return AuditSubject((), audience, facts)


def facts(accounts: Accounts, name: str) -> AudienceFacts:
    with accounts.store.read() as session:
        return load_audience_facts(session, session.get_one(AudienceRow, name))


@pytest.mark.parametrize(
    ("source", "slots"), [("sample", True), ("hidden", True), ("upload", False)]
)
def test_in_a_sample_people_displace_each_other(
    accounts: Accounts, source: str, slots: bool
) -> None:
    groups = {"g0": {1, 2}, "g1": {3}, "g2": {4}}
    accounts.seal("a", groups, groups_per_person=2, source=source, uploaded=5)
    found = facts(accounts, "a")
    assert found.fixed_slots is slots
    assert found.groups_per_person == 2
    assert found.labels == ("g0", "g1", "g2")
    assert found.members == 15
    # How many matched is private where it was not said to be known.
    assert found.known_sizes is None


@pytest.mark.parametrize(
    ("source", "assumes"), [("sample", ["uncounted-displacement"]), ("upload", [])]
)
def test_a_price_says_that_displacement_is_not_counted(
    platform: Platform, source: Source, assumes: list[str]
) -> None:
    subject, settings = subject_of(source), make_settings("sqlite://", "http://a")
    priced = price_request(subject, REQUEST, platform, settings)
    assert priced.shown.assumes == assumes


def test_a_kind_of_a_package_cannot_declare_that_it_takes_hidden_audiences(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is debited when it is charged, and only a two-party run debits people later."""

    class Greedy(BalanceHistogram):
        sources: frozenset[Source] = KNOWN_AT_CHARGE | {"hidden"}

        def plan(self, request: BalanceHistogramRequest, audience: AudienceFacts) -> ReleasePlan:
            return super().plan(REQUEST, audience)

    monkeypatch.setattr(request_pricing, "KINDS", {"patient-share": Greedy()})
    request = REQUEST.model_copy(update={"kind": "patient-share"})
    settings = make_settings("sqlite://", "http://a")
    with pytest.raises(UnsupportedAudienceError) as refusal:
        price_request(subject_of("hidden"), request, platform, settings)
    assert refusal.value.members["supported"] == sorted(KNOWN_AT_CHARGE)


@pytest.mark.parametrize(("declared", "counted"), [(1, 1), (2, 2), (5, 2)])
def test_nobody_is_in_more_groups_than_there_are(
    accounts: Accounts, declared: int, counted: int
) -> None:
    accounts.seal("a", {"g0": {1}, "g1": {1}}, groups_per_person=declared)
    assert facts(accounts, "a").groups_per_person == counted


def test_the_debit_is_the_change_one_price_of_all_tables_together() -> None:
    shown = price_plan(LAPLACE, "epsilon")
    assert shown.epsilon is not None
    assert (shown.epsilon.add_remove, shown.epsilon.change_one) == (Decimal("0.75"), Decimal("1.5"))
    assert shown.debit == Decimal("1.5")
    # rho of both tables, each at ε² / 2.
    assert shown.rho.change_one == Decimal("0.625")
    assert require_currency(shown, "rho").debit == shown.rho.change_one
    assert require_currency(shown, "epsilon").debit == shown.epsilon.change_one
    assert [part.name for part in shown.parts] == ["one", "two"]


def test_a_gaussian_release_is_due_in_rho_alone() -> None:
    shown = price_plan(GAUSSIAN, "rho")
    assert shown.epsilon is None
    assert shown.debit == shown.rho.change_one == 1
    with pytest.raises(ValueError, match="epsilon"):
        require_currency(shown, "epsilon")
    exact = exact_price(shown)
    assert exact.amount("epsilon", ADD_REMOVE) == exact.amount("epsilon", CHANGE_ONE) == INFINITE
    assert exact.amount("rho", CHANGE_ONE) == 1
