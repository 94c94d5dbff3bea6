"""Two audiences that differ in one person, and what the difference of their answers tells."""

from fractions import Fraction

import numpy as np
import pytest

from api.accounting.balance_blocks import BLOCK, Blocks
from api.db.types import to_pico
from platform_sim import World
from tests.attacks.advantage import advantage, allowed, margin
from tests.attacks.outside import release_of
from tests.attacks.test_membership import silence
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import claimed, statistics
from tests.system.raw import Raw, raw, refused, usernames
from tests.world import Deployment

RUNS = 8_000
[CASE] = [case for case in cases() if (case.name, case.relation) == ("match count", "add-remove")]


def together(times: int) -> float:
    """The advantage of an adversary who saw that many audiences with the person in them."""
    looks = [statistics(CASE, RUNS)[""] for _ in range(times)]
    one, other = (sum(look[side] for look in looks) for side in (0, 1))
    assert isinstance(one, np.ndarray)
    assert isinstance(other, np.ndarray)
    return advantage(one, other)


@pytest.mark.parametrize("times", [2, 3])
def test_the_combined_advantage_is_within_the_sum_of_the_prices(times: int) -> None:
    # False failure: 1e-7.
    assert together(times) <= allowed(times * claimed(CASE)) + margin(RUNS)


@pytest.mark.full
def test_more_audiences_do_tell_more_which_is_why_each_is_charged() -> None:
    """The twin without charges could go on: beyond what one price allows, and to certainty."""
    # False failure: 1e-7 each; the true advantages are 0.64 and 0.90.
    assert together(3) - margin(RUNS) > allowed(claimed(CASE))
    assert together(12) - margin(RUNS) > 0.8


def difference(target: Deployment, me: Raw, names: list[str], **changes: object) -> int:
    """Estimate by two match counts whether the first name is on the platform."""
    counts = []
    for group in (names, names[1:]):
        audience = me.audience({"g0": group})
        body = {"kind": "match-count", "audience_id": audience["id"], "epsilon": "1"}
        [counted] = release_of(target, me, body | changes)["groups"]
        counts.append(int(counted["count"]))
    return counts[0] - counts[1]


def test_without_noise_the_difference_is_the_person(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence(monkeypatch)
    me = raw(target, target.auditor(kinds=["match-count"]))
    member, stranger = usernames(world, 1), usernames(world, 1, strangers=True)
    others = usernames(world, 20)[1:]
    assert difference(target, me, member + others, epsilon="0.01") == 1
    assert difference(target, me, stranger + others, epsilon="0.01") == 0


def test_a_mandate_pays_for_both_audiences_and_people_for_their_own(
    target: Deployment, world: World
) -> None:
    names = usernames(world, 60)[40:]
    auditor = target.auditor(epsilon="4", kinds=["match-count"])
    me = raw(target, auditor)
    difference(target, me, names)
    assert auditor.budget().mandates[0].spent == 4
    again = {"kind": "match-count", "epsilon": "1", **any_audience(me, names)}
    refused(me.submit(again), "budget-exhausted")
    first, second = world.directory.holders("username")[40:42]
    # A price of 2 when one person changes is 2²/2 of rho: once for the first, twice for others.
    assert balance(target, int(first)) == to_pico(Fraction(2))
    assert balance(target, int(second)) == to_pico(Fraction(4))


def any_audience(me: Raw, names: list[str]) -> dict[str, str]:
    return {"audience_id": str(me.audience({"g0": names})["id"])}


def balance(target: Deployment, person: int) -> int:
    with target.service.store.read() as session:
        blocks = Blocks.load(session, np.array([person // BLOCK]))
        return int(blocks["spent"][person % BLOCK])
