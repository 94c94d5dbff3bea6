import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from platform_sim import SimulatedPlatform, recruit
from platform_sim.people import identifiers
from platform_sim.people.directory import NOBODY


def _by_email(platform: SimulatedPlatform, table: pa.Table) -> NDArray[np.int64]:
    addresses = identifiers.canonical_emails(table["email"].combine_chunks())
    return platform.match("email_sha256", identifiers.sha256_each(addresses))


def _by_username(platform: SimulatedPlatform, table: pa.Table) -> NDArray[np.int64]:
    return platform.match("username", table["username"].combine_chunks())


def test_the_list_has_what_a_researcher_knows(fair: SimulatedPlatform) -> None:
    table = recruit(fair.world, 2_000, seed=1)
    assert table.column_names == ["email", "username", "phone", "gender", "qualified"]
    assert len(table) == 2_020
    assert table["email"].null_count == 0
    assert table["username"].null_count > 0
    assert table["phone"].null_count > 0
    counts = {row["values"]: row["counts"] for row in pc.value_counts(table["gender"]).to_pylist()}
    assert all(1_000 <= counts[value] <= 1_020 for value in ("woman", "man"))
    assert abs(pc.mean(table["qualified"]).as_py() - 0.8) < 0.01


def test_what_volunteers_say_of_themselves_is_true(fair: SimulatedPlatform) -> None:
    table = recruit(fair.world, 2_000, seed=1)
    found = _by_email(fair, table)
    known = found != NOBODY
    who, able = fair.world.demographics, fair.world.qualified("software")
    women = np.array(table["gender"].to_pylist()) == "woman"
    assert np.array_equal(who.having("gender", "woman")[found[known]], women[known])
    assert np.array_equal(able[found[known]], table["qualified"].to_numpy()[known])


def test_some_are_strangers_and_groups_may_differ_in_that(fair: SimulatedPlatform) -> None:
    shares = {"woman": 0.6, "man": 1.0}
    table = recruit(fair.world, 2_000, seed=1, on_platform=shares, twice=0)
    found = _by_username(fair, table) != NOBODY
    named = np.asarray(table["username"].is_valid())
    women = np.array(table["gender"].to_pylist()) == "woman"
    assert found[named & ~women].all()
    assert (~found[named & women]).sum() == 400


def test_a_few_people_are_there_twice_in_another_spelling(fair: SimulatedPlatform) -> None:
    table = recruit(fair.world, 1_000, seed=1, twice=0.05)
    spelt = table["email"].combine_chunks()
    canonical = identifiers.canonical_emails(spelt)
    assert len(spelt.unique()) == 1_050
    assert len(canonical.unique()) == 1_000
    found = _by_email(fair, table)
    assert len(found[found != NOBODY]) > len(np.unique(found[found != NOBODY]))


def test_the_same_seed_recruits_the_same_people(fair: SimulatedPlatform) -> None:
    assert recruit(fair.world, 500, seed=1).equals(recruit(fair.world, 500, seed=1))
    assert not recruit(fair.world, 500, seed=1).equals(recruit(fair.world, 500, seed=2))


def test_other_attributes_and_trades_are_recruited_too(fair: SimulatedPlatform) -> None:
    races = ("white", "black", "hispanic")
    table = recruit(fair.world, 301, "race", races, seed=1, occupation="nursing", qualified=0.5)
    assert set(table["race"].to_pylist()) == set(races)


def test_volunteers_may_state_other_attributes_too(fair: SimulatedPlatform) -> None:
    races = ("white", "black")
    table = recruit(
        fair.world, 1_500, "race", races, seed=1, qualified=0.25, twice=0, also=("gender",)
    )
    assert table.column_names[-1] == "gender"
    stated = np.array(table["gender"].to_pylist())
    assert set(stated) == {"woman", "man", "nonbinary"}
    found = _by_email(fair, table)
    known = found != NOBODY
    for gender in ("woman", "man"):
        having = fair.world.demographics.having("gender", gender)
        assert (having[found[known]] == (stated[known] == gender)).all()
        # Strangers are mixed as everybody is: of 75, nobody or everybody in less than 1e-20.
        assert 0 < (stated[~known] == gender).sum() < (~known).sum()


def test_more_volunteers_than_there_are_is_refused(fair: SimulatedPlatform) -> None:
    with pytest.raises(ValueError, match=r"\b5700\b"):
        recruit(fair.world, 15_000, seed=1)
