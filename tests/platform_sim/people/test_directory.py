import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from platform_sim import SimulatedPlatform
from platform_sim.people import identifiers
from platform_sim.people.directory import NOBODY

KINDS = ("username", "email", "phone")


def _called(platform: SimulatedPlatform, kind: str, persons: NDArray[np.int64]) -> pa.Array:
    """Return a researcher's upload for these people."""
    world = platform.world
    if kind == "username":
        return identifiers.usernames(world.seed, persons, world.surnames[persons % world.people])
    if kind == "phone":
        return identifiers.sha256_each(identifiers.phones(world.seed, persons))
    addresses = identifiers.emails(world.seed, persons, world.surnames[persons % world.people])
    return identifiers.sha256_each(addresses)


def _wire(kind: str) -> str:
    return kind if kind == "username" else f"{kind}_sha256"


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_who_gave_an_identifier_is_found_and_nobody_else(
    fair: SimulatedPlatform, kind: str
) -> None:
    asked = np.random.default_rng(1).permutation(2 * fair.world.people)
    found = fair.match(_wire(kind), _called(fair, kind, asked))
    holders = fair.world.directory.holders(kind)
    assert found.dtype == np.int64
    assert np.array_equal(found, np.where(np.isin(asked, holders), asked, NOBODY))
    assert 0.5 < len(holders) / fair.world.people < 0.97


def test_usernames_match_in_any_case_and_with_an_at(fair: SimulatedPlatform) -> None:
    person = fair.world.directory.holders("username")[:1]
    name = _called(fair, "username", person)[0].as_py()
    spelt = pa.array([name, name.upper(), f" @{name.lower()}", f"x{name}", None])
    assert fair.match("username", spelt).tolist() == [*person.tolist() * 3, NOBODY, NOBODY]


def test_one_person_is_matched_by_email_and_by_username(fair: SimulatedPlatform) -> None:
    directory = fair.world.directory
    both = np.intersect1d(directory.holders("username"), directory.holders("email"))[:50]
    by_name = fair.match("username", _called(fair, "username", both))
    by_email = fair.match("email_sha256", _called(fair, "email", both))
    assert np.array_equal(by_name, both)
    assert np.array_equal(by_email, both)


def test_an_identifier_resolves_independently_of_others(fair: SimulatedPlatform) -> None:
    asked = _called(fair, "email", np.arange(1_000))
    together = fair.match("email_sha256", asked)
    repeated = fair.match("email_sha256", pa.concat_arrays([asked.slice(500), asked]))
    assert np.array_equal(repeated, np.concatenate([together[500:], together]))


def test_some_people_gave_nothing(fair: SimulatedPlatform) -> None:
    given = [fair.world.directory.holders(kind) for kind in KINDS]
    silent = fair.world.people - len(np.unique(np.concatenate(given)))
    assert 0.01 < silent / fair.world.people < 0.05


def test_nulls_and_nothing_match_nobody(fair: SimulatedPlatform) -> None:
    assert fair.match("phone_sha256", pa.nulls(2, pa.binary(32))).tolist() == [NOBODY, NOBODY]
    assert fair.match("username", pa.array([], pa.string())).tolist() == []


def test_unknown_kinds_are_refused(fair: SimulatedPlatform) -> None:
    with pytest.raises(ValueError, match="'face'"):
        fair.match("face", pa.array(["x"]))


def test_plain_binary_digests_match_too(fair: SimulatedPlatform) -> None:
    asked = _called(fair, "email", np.arange(100))
    found = fair.match("email_sha256", pc.cast(asked, pa.binary()))
    assert np.array_equal(found, fair.match("email_sha256", asked))
