"""Balances of people in blocks, compared with a plain dictionary; and their inspection."""

import logging
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlmodel import Session, select
from typer.testing import CliRunner

from api.accounting import balance_blocks, lifetime_caps
from api.accounting.lifetime_caps import LifetimeDebit
from api.db import ExclusionRow, PersonBlockRow
from api.operations import reconciliation
from api.operations.cli import app
from api.operations.reconciliation import Inspection, inspect
from privacy.tables.membership import Membership
from tests.api.accounting.accounts import Accounts, at_time
from tests.api.accounting.model import Cost, Mandate
from tests.memory import peak

CAP = Fraction(1)
# Around the ends of blocks, neighbouring blocks and far ones.
NUMBERS = [0, 1, 1023, 1024, 1025, 2047, 2048, 10_000, 10**6, 10**12]

memberships = st.builds(
    Membership.from_groups,
    st.lists(
        st.lists(st.sampled_from(NUMBERS)).map(lambda some: np.array(some, np.int64)),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 3),
)
costs = st.sampled_from([Fraction(1, 10**12), Fraction(1, 4), Fraction(1, 2), Fraction(1)])


@pytest.fixture(autouse=True)
def _few_blocks_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance_blocks, "BLOCKS_PER_QUERY", 2)


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts.open(platform_limit=Fraction(1000), person_cap=CAP)
    yield accounts
    accounts.close()


@pytest.fixture
def rewritten(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the blocks that are written, each as often as it is."""
    numbers, save = list[int](), balance_blocks.Blocks.save

    def noting(some: balance_blocks.Blocks, session: Session) -> None:
        numbers.extend(some.numbers.tolist())
        save(some, session)

    monkeypatch.setattr(balance_blocks.Blocks, "save", noting)
    return numbers


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(memberships, costs, st.booleans()), max_size=8))
def test_charges_and_refunds_agree_with_a_dictionary(
    accounts: Accounts, steps: list[tuple[Membership, Fraction, bool]]
) -> None:
    expected = {person: Fraction(spent) for person, spent in accounts.balances().items()}
    for membership, cost, refunded in steps:
        everyone = {int(person) for group in membership.groups for person in group}
        able = {person for person in everyone if expected.get(person, 0) + cost <= CAP}
        with accounts.store.write() as session:
            [masks] = lifetime_caps.charge(session, [LifetimeDebit(membership, cost)], CAP)
        for group, mask in zip(membership.groups, masks, strict=True):
            borne = group if mask is None else group[mask]
            assert borne.tolist() == [person for person in group.tolist() if person in able]
        assert (set(map(type, masks)) == {type(None)}) == (able == everyone)
        if refunded:
            kept = tuple(
                group if mask is None else group[mask]
                for group, mask in zip(membership.groups, masks, strict=True)
            )
            with accounts.store.write() as session:
                bearing = Membership(kept, membership.groups_per_person)
                lifetime_caps.refund(session, LifetimeDebit(bearing, cost))
        else:
            expected |= {person: expected.get(person, Fraction(0)) + cost for person in able}
        assert accounts.balances() == {who: spent for who, spent in expected.items() if spent}


def test_an_empty_audience_costs_nobody_anything(accounts: Accounts) -> None:
    nobody = Membership.from_groups([np.empty(0, np.int64)], 1)
    with accounts.store.write() as session:
        burden = LifetimeDebit(nobody, Fraction(1))
        assert lifetime_caps.charge(session, [burden], CAP) == [[None]]
        lifetime_caps.refund(session, burden)
    assert accounts.balances() == {}


@pytest.mark.parametrize("uploaded", [1, 12, 100, 1_000])
def test_as_many_blocks_are_rewritten_as_identifiers_were_uploaded(
    accounts: Accounts, uploaded: int, rewritten: list[int]
) -> None:
    """Exactly that number, independent of who was found, or all blocks."""
    _fill(accounts, 400)
    cost, somebody = Fraction(1, 8), Membership((np.array([5]),), 1)
    with accounts.store.write() as session:
        lifetime_caps.charge(session, [LifetimeDebit(somebody, cost)], CAP)
    before = accounts.balances()
    scattered = (np.arange(min(uploaded, 400)) * balance_blocks.BLOCK).tolist()
    for found in ([], [5], scattered):
        rewritten.clear()
        with accounts.store.write() as session:
            theirs = Membership((np.array(found, np.int64),), 1)
            lifetime_caps.refund(session, LifetimeDebit(theirs, cost, uploaded))
        assert len(rewritten) == len(set(rewritten)) == min(uploaded, 400)
    refunded = {5, *scattered}
    assert accounts.balances() == {each: cost for each in before if each not in refunded}


def test_blocks_that_are_not_there_are_made_for_nobody_but_who_was_found(
    accounts: Accounts,
) -> None:
    far = Membership((np.array([9 * balance_blocks.BLOCK]),), 1)
    with accounts.store.write() as session:
        lifetime_caps.charge(session, [LifetimeDebit(far, Fraction(1, 8), uploaded=5)], CAP)
        near = Membership((np.array([3]),), 1)
        lifetime_caps.charge(session, [LifetimeDebit(near, Fraction(1, 8), uploaded=50)], CAP)
        numbers = session.exec(select(PersonBlockRow.number)).all()
    assert sorted(numbers) == [0, 9]
    assert accounts.balances() == {9 * balance_blocks.BLOCK: Fraction(1, 8), 3: Fraction(1, 8)}


def test_who_is_left_out_is_read_back_bit_by_bit(accounts: Accounts) -> None:
    _charged(accounts)
    audit_id = _charge(accounts, Fraction(1), "a1")
    # Everybody of the first audience has borne three quarters, and 40 is new.
    assert accounts.bearers(audit_id) == {40}


# --- what is carried forward when members are erased


@pytest.mark.parametrize("uploaded", [1, 12, 100, 1_000])
@pytest.mark.parametrize("source", ["upload", "sample"])
def test_an_erasure_rewrites_as_many_blocks_as_identifiers_were_uploaded(
    accounts: Accounts, source: str, uploaded: int, rewritten: list[int]
) -> None:
    """Exactly, independent of who was found, or all blocks, and once for all charges."""
    _fill(accounts, 400)
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    scattered = set((np.arange(min(uploaded, 400)) * balance_blocks.BLOCK).tolist())
    for name, found in {"a0": set[int](), "a1": {5}, "a2": scattered}.items():
        accounts.seal(name, {"g0": found}, 1, source, uploaded)
        for _ in range(3):
            accounts.release(_charge(accounts, Fraction(1, 16), name))
        rewritten.clear()
        _erase(accounts, name)
        assert len(rewritten) == len(set(rewritten)) == min(uploaded, 400)
    expected = {5: Fraction(3, 16)} | dict.fromkeys(scattered, Fraction(3, 16))
    assert _kept(accounts, "carried") == expected


@pytest.mark.parametrize("found", [set[int](), set(range(50))])
def test_nothing_is_rewritten_for_an_audience_of_which_no_charge_stands(
    accounts: Accounts, found: set[int], rewritten: list[int]
) -> None:
    _fill(accounts, 4)
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    for name in ("never charged", "refunded"):
        accounts.seal(name, {"g0": found}, 1, "upload", uploaded=50)
    with at_time(lambda: 0):
        accounts.refund(_charge(accounts, Fraction(1, 8), "refunded"))
    rewritten.clear()
    for name in ("never charged", "refunded"):
        _erase(accounts, name)
    assert rewritten == []
    assert _kept(accounts, "carried") == {}


@pytest.mark.parametrize("found", [set[int](), {5}, set(range(4 * balance_blocks.BLOCK))])
def test_a_block_in_which_nothing_is_carried_is_written_like_others(
    accounts: Accounts, found: set[int]
) -> None:
    _fill(accounts, 4)
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("a0", {"g0": found}, 1, "sample", uploaded=4 * balance_blocks.BLOCK)
    accounts.release(_charge(accounts, Fraction(1, 8), "a0"))
    _erase(accounts, "a0")
    with accounts.store.read() as session:
        rows = session.exec(select(PersonBlockRow)).all()
    assert len(rows) == 4
    assert all(None not in (row.carried, row.drawn, row.carried_drawn) for row in rows)


@pytest.mark.parametrize("source", ["upload", "sample"])
def test_what_is_carried_is_the_sum_of_what_each_person_bore(
    accounts: Accounts, source: str
) -> None:
    """Several charges leave out different people; refunded charges count nothing."""
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("other", {"g0": {1, 5_000}}, 1, "upload")
    _charge(accounts, Fraction(1, 2), "other")
    # 2 and 5,000 are in both groups, and bear a charge once.
    accounts.seal("a0", {"g0": {1, 2, 3, 5_000}, "g1": {2, 5_000, 10**6}}, 2, source, uploaded=4)
    large, tiny = Fraction(3, 4), Fraction(1, 10**12)
    refunded = _charge(accounts, Fraction(1, 8), "a0")
    charges = [_charge(accounts, cost, "a0") for cost in (tiny, large, Fraction(1, 4))]
    borne = [accounts.bearers(audit_id) for audit_id in charges]
    assert borne == [{1, 2, 3, 5_000, 10**6}, {2, 3, 10**6}, {1, 5_000}]
    with at_time(lambda: 0):
        accounts.refund(refunded)
    for audit_id in charges:
        accounts.release(audit_id)
    before = accounts.balances()
    _erase(accounts, "a0")
    expected = dict.fromkeys((1, 5_000), tiny + Fraction(1, 4))
    expected |= dict.fromkeys((2, 3, 10**6), tiny + large)
    assert _kept(accounts, "carried") == expected
    assert _kept(accounts, "carried_drawn") == (expected if source == "sample" else {})
    assert accounts.balances() == before
    assert inspect(accounts.store, CAP).sound


def test_who_was_left_out_is_forgotten_even_of_what_was_refunded(accounts: Accounts) -> None:
    accounts.release(_charged(accounts))
    accounts.seal("a2", {"g0": {5, 40}}, 1, "upload")
    standing, refunded = (_charge(accounts, Fraction(1, 2), "a2") for _ in range(2))
    accounts.release(standing)
    with at_time(lambda: 0):
        accounts.refund(refunded)
    with accounts.store.read() as session:
        assert len(session.exec(select(ExclusionRow)).all()) == 2
    _erase(accounts, "a2")
    with accounts.store.read() as session:
        assert session.exec(select(ExclusionRow)).all() == []


# --- the inspection


def test_an_inspection_accepts_a_correct_database(accounts: Accounts) -> None:
    _charged(accounts)
    found = inspect(accounts.store, CAP)
    assert (found.people, found.charges, found.differing, found.above_cap) == (20, 1, 0, 0)
    assert found.sound


def test_an_inspection_still_holds_when_members_are_erased(accounts: Accounts) -> None:
    audit_id = _charged(accounts)
    accounts.release(audit_id)
    _erase(accounts, "a0")
    assert inspect(accounts.store, CAP).sound
    assert len(accounts.balances()) == 20


@pytest.mark.parametrize("change", [-1, 1, 10**12])
def test_an_inspection_finds_a_balance_that_was_changed(accounts: Accounts, change: int) -> None:
    _charged(accounts)
    _change(accounts, "spent", change)
    found = inspect(accounts.store, CAP)
    assert found.differing == 1
    assert found.above_cap == (1 if change > 1 else 0)
    assert not found.sound


@pytest.mark.parametrize("change", [-1, 1, -3 * 10**12 // 4])
@pytest.mark.parametrize("erased", [False, True])
def test_an_inspection_finds_what_samples_bore_that_was_changed(
    accounts: Accounts, change: int, erased: bool
) -> None:
    """It is taken off what a `balance-histogram` reads: a false value would falsify that."""
    audit_id = _charged(accounts)
    accounts.release(audit_id)
    if erased:
        _erase(accounts, "a0")
    assert inspect(accounts.store, CAP).sound
    _change(accounts, "drawn", change)
    found = inspect(accounts.store, CAP)
    assert (found.differing, found.above_cap) == (1, 0)


def test_an_upload_is_not_debited_as_a_sample(accounts: Accounts) -> None:
    _charged(accounts, source="upload")
    assert inspect(accounts.store, CAP).sound
    _change(accounts, "drawn", 3 * 10**12 // 4)
    assert inspect(accounts.store, CAP).differing == 1


def test_an_inspection_finds_balances_that_are_gone(accounts: Accounts) -> None:
    """A block that was deleted makes people look as if they had borne nothing."""
    _charged(accounts)
    with accounts.store.write() as session:
        session.delete(session.exec(select(PersonBlockRow)).one())
    found = inspect(accounts.store, CAP)
    assert found.differing == 20
    assert not found.sound


def test_an_inspection_finds_balances_that_are_gone_among_others(accounts: Accounts) -> None:
    """Between blocks that are there, and behind them."""
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("a0", {"g0": {0, 5_000, 10**6}, "g1": {1, 5_000, 10**9}}, 2)
    _charge(accounts, Fraction(1, 2), "a0")
    assert inspect(accounts.store, CAP).sound
    for number in (5_000, 10**9):
        with accounts.store.write() as session:
            session.delete(session.get_one(PersonBlockRow, number // balance_blocks.BLOCK))
    assert inspect(accounts.store, CAP).differing == 2


def test_an_inspection_holds_some_blocks_at_a_time(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    scattered = set((np.arange(600) * 10**6).tolist())
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("a0", {"g0": scattered}, 1, "sample")
    _charge(accounts, Fraction(1, 2), "a0")
    assert inspect(accounts.store, CAP).sound  # whatever is imported or kept at first
    whole = peak(lambda: inspect(accounts.store, CAP))
    monkeypatch.setattr(reconciliation, "AT_ONCE", 20)
    assert inspect(accounts.store, CAP) == Inspection(600, 1, 0, 0)
    assert peak(lambda: inspect(accounts.store, CAP)) < whole / 8


@pytest.fixture
def _own_logs() -> Iterator[None]:
    """A command has all logs of its process, on a standard error that here is closed after it."""
    root, access = logging.getLogger(), logging.getLogger("uvicorn.access")
    handlers, level, disabled = root.handlers[:], root.level, access.disabled
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    access.disabled = disabled


@pytest.mark.usefixtures("_own_logs")
def test_the_operator_verifies_by_a_command(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    _charged(accounts)
    for name in ("database_url", "issuer"):
        monkeypatch.setenv(
            f"PLATFORM_AUDITOR_{name.upper()}", str(getattr(accounts.settings, name))
        )
    key = accounts.settings.key_encryption_key.get_secret_value()
    monkeypatch.setenv("PLATFORM_AUDITOR_KEY_ENCRYPTION_KEY", key)
    sound = CliRunner().invoke(app, ["persons", "verify"])
    assert sound.exit_code == 0, sound.output
    with accounts.store.write() as session:
        session.delete(session.exec(select(PersonBlockRow)).one())
    unsound = CliRunner().invoke(app, ["persons", "verify"])
    assert unsound.exit_code == 1
    unexplained = CliRunner().invoke(app, ["persons", "repair"])
    assert unexplained.exit_code == 2
    repaired = CliRunner().invoke(app, ["persons", "repair", "--reason", "a block was lost"])
    assert repaired.exit_code == 0, repaired.output
    assert CliRunner().invoke(app, ["persons", "verify"]).exit_code == 0


def _change(accounts: Accounts, column: str, by: int) -> None:
    """Falsify what one person has borne."""
    with accounts.store.write() as session:
        block = session.exec(select(PersonBlockRow)).one()
        kept = getattr(block, column)
        balances = (
            np.zeros(balance_blocks.BLOCK, np.int64)
            if kept is None
            else balance_blocks.unpack([kept])[0]
        )
        changed = balances + by * (np.arange(balance_blocks.BLOCK) == 3)
        setattr(block, column, balance_blocks.pack(changed)[0])
        session.add(block)


def _fill(accounts: Accounts, number: int) -> None:
    """Fill this number of blocks, with a balance in each."""
    everywhere = Membership((np.arange(number) * balance_blocks.BLOCK,), 1)
    with accounts.store.write() as session:
        lifetime_caps.charge(session, [LifetimeDebit(everywhere, Fraction(1, 8))], CAP)


def _kept(accounts: Accounts, column: str) -> dict[int, Fraction]:
    """Return the stored values of a column of the blocks, by person."""
    with accounts.store.read() as session:
        numbers = np.array(sorted(session.exec(select(PersonBlockRow.number)).all()))
        some = balance_blocks.Blocks.load(session, numbers, (column,))
    kept = some[column].reshape(len(numbers), balance_blocks.BLOCK)
    return {
        int(numbers[row]) * balance_blocks.BLOCK + int(place): Fraction(
            int(kept[row, place]), 10**12
        )
        for row, place in np.argwhere(kept)
    }


def _erase(accounts: Accounts, audience: str) -> None:
    with at_time(lambda: 1):
        accounts.erase(audience)


def _charged(accounts: Accounts, source: str = "sample") -> str:
    """Twenty people who have borne three quarters."""
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("a0", {"g0": set(range(10)), "g1": set(range(10, 20))}, 1, source)
    accounts.seal("a1", {"g0": {5, 15, 40}}, 1)
    return _charge(accounts, Fraction(3, 4), "a0")


def _charge(accounts: Accounts, rho: Fraction, audience: str) -> str:
    with at_time(lambda: 0):
        return accounts.charge(audience, Cost(None, rho), None)
