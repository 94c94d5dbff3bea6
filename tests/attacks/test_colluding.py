"""Auditors who collude: each within their own mandate, together beyond what a person may bear."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from api.accounting import charge, lifetime_caps
from api.accounting.lifetime_caps import LifetimeDebit
from api.accounting.memberships import load_membership
from api.accounting.people_digest import people_digest
from api.kernel.hard_limits import PERSON_LIFETIME_RHO
from platform_sim import World
from privacy.tables.membership import Membership
from tests.attacks.outside import HISTOGRAM, release_of
from tests.system.adapters import Watched
from tests.system.raw import Raw, raw, request_for, usernames
from tests.world import Deployment

# At epsilon 1 an audit costs 2 when one person changes: 2²/2 of rho.
RHO = Fraction(2)
ASKED = {"kind": HISTOGRAM, "epsilon": "1", "size_epsilon": "0"}


def attack(target: Deployment, watched: Watched, names: list[str], victim: int) -> Fraction:
    """Return the rho that two alternating auditors debit from one person."""
    auditors = [raw(target, target.auditor(epsilon="8")) for _ in range(2)]
    asks = [asking(target, me, names) for me in auditors]
    watched.seen.clear()
    for _ in range(4):
        for ask in asks:
            ask()
    scored = sum(victim in batch for batch in watched.seen)
    return scored * RHO


def asking(target: Deployment, me: Raw, names: list[str]) -> Callable[[], dict[str, Any]]:
    body = request_for(me.content(), me.audience({"g0": names}), **ASKED)
    return lambda: release_of(target, me, body)


def test_the_lifetime_cap_of_a_person_holds_over_both(
    target: Deployment, watched: Watched, world: World
) -> None:
    victim = int(world.directory.holders("username")[100])
    borne = attack(target, watched, usernames(world, 110)[100:], victim)
    assert borne == PERSON_LIFETIME_RHO


def test_balances_per_auditor_would_let_each_start_anew(
    target: Deployment, watched: Watched, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = lifetime_caps.charge
    accounts = dict[str, int]()

    def charge_people(session: Any, audits: Any, settings: Any) -> list[bytes]:
        """The twin: the same person is somebody else for each auditor."""
        digests = list[bytes]()
        for audit, audience, rho in audits:
            account = accounts.setdefault(audit.auditor_id, (len(accounts) + 1) << 40)
            real = load_membership(session, audience).membership
            theirs = Membership(tuple(np.array(g) + account for g in real.groups), 1)
            cap = Fraction(settings.person_lifetime_rho)
            [able] = original(session, [LifetimeDebit(theirs, rho)], cap)
            lifetime_caps.record_exclusions(session, audit.id, ["g0"], able)
            debited = lifetime_caps.within_cap(real, able)
            uploaded = load_membership(session, audience).uploaded
            digests.append(people_digest(audit.id, debited, uploaded, settings))
        return digests

    monkeypatch.setattr(charge, "charge_people", charge_people)
    victim = int(world.directory.holders("username")[200])
    borne = attack(target, watched, usernames(world, 210)[200:], victim)
    assert borne == 16 > PERSON_LIFETIME_RHO
