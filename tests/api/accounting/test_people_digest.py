"""The digest of a charge is that of exactly its people, its audit and its platform."""

import base64
import secrets
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.accounting.people_digest import BEFORE_0015, is_bound, people_digest
from api.kernel.settings import Settings
from privacy.tables.membership import Membership

AUDIT = "audit_" + "0" * 30
Groups = list[set[int]]
groups = st.lists(st.sets(st.integers(0, 40), max_size=6), min_size=1, max_size=3)


def settings() -> Settings:
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    return Settings(database_url="sqlite://", issuer="http://127.0.0.1:9", key_encryption_key=key)


OURS, OTHERS = settings(), settings()


def membership(groups: Groups, most: int = 3) -> Membership:
    return Membership(tuple(np.array(sorted(each), np.int64) for each in groups), most)


@given(groups, groups)
def test_no_two_memberships_have_the_same_digest(one: Groups, other: Groups) -> None:
    digests = [people_digest(AUDIT, membership(each), 20, OURS) for each in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_it_depends_on_audit_key_and_bounds_and_on_nothing_else() -> None:
    people = membership([{1, 2}, {2}])
    digest = people_digest(AUDIT, people, 5, OURS)
    assert digest == people_digest(AUDIT, membership([{1, 2}, {2}]), 5, OURS)
    assert len(digest) == 32
    changed = {
        people_digest("audit_" + "1" * 30, people, 5, OURS),
        people_digest(AUDIT, people, 5, OTHERS),
        people_digest(AUDIT, membership([{1, 2}, {2}], most=2), 5, OURS),
        people_digest(AUDIT, membership([{1}, {2}]), 5, OURS),
    }
    assert len(changed | {digest}) == 5


@pytest.mark.parametrize("other", [[{1, 2}, set()], [{2}, {1}], [set(), {1, 2}], [{1, 2}]])
def test_the_same_people_in_other_groups_have_another_digest(other: Groups) -> None:
    one = people_digest(AUDIT, membership([{1}, {2}]), 5, OURS)
    assert people_digest(AUDIT, membership(other), 5, OURS) != one


def test_a_charge_without_a_digest_is_bound_to_nobody() -> None:
    people = membership([{1}])
    digest = people_digest(AUDIT, people, 1, OURS)
    assert is_bound(digest, AUDIT, people, 1, OURS)
    assert not is_bound(None, AUDIT, people, 1, OURS)
    assert not is_bound(None, AUDIT, membership([set()]), 1, OURS)
    assert not is_bound(bytes(32), AUDIT, people, 1, OURS)
    assert not is_bound(BEFORE_0015, AUDIT, people, 1, OURS)
    assert not is_bound(BEFORE_0015, AUDIT, membership([set()]), 1, OURS)


def test_its_time_does_not_depend_on_who_was_found() -> None:
    """The least of 40 each, of a million identifiers; a quarter apart at most."""
    uploaded = 1_000_000
    everybody = Membership((np.arange(uploaded),), 1)
    nobody = Membership((np.empty(0, np.int64),), 1)
    took: dict[str, float] = {}
    for _ in range(40):
        for name, people in (("everybody", everybody), ("nobody", nobody)):
            start = time.process_time()
            people_digest(AUDIT, people, uploaded, OURS)
            took[name] = min(took.get(name, 1e9), time.process_time() - start)
    assert abs(took["everybody"] - took["nobody"]) < 0.25 * took["everybody"]
