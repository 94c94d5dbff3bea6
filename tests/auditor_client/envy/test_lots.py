"""Lots as the planner sees them: how likely people fill them, compared with how they are drawn."""

import numpy as np
import pytest

from api.kinds.envy_freeness.participants import draw_lots
from auditor_client.envy import CertificateGoal, design
from auditor_client.envy.lots import (
    arms_per_person_for,
    noise_rate,
    people_needed,
    unfilled_probability,
)
from auditor_client.errors import InputError
from tests.refusals import refuses

SECRETS = np.random.default_rng(3).integers(2**62, size=300).tolist()


@pytest.mark.parametrize(
    ("people", "targets", "arms", "each"),
    [(300, 10, 24, 1), (60, 10, 24, 5), (40, 12, 10, 4), (30, 20, 25, 20), (9, 4, 10, 4)],
)
def test_lots_are_filled_as_often_as_foreseen(
    people: int, targets: int, arms: int, each: int
) -> None:
    everybody = np.arange(people)
    run = [len(draw_lots(everybody, targets, arms, each, secret).lots) for secret in SECRETS]
    foreseen, trials = unfilled_probability(people, targets, arms, each), len(SECRETS)
    # Lots of one draw are not independent: by the spread of whole draws, six standard errors.
    error = 6 * np.std(run) / np.sqrt(trials) / targets + 1e-9
    assert 1 - np.mean(run) / targets == pytest.approx(foreseen, abs=error)


def test_the_number_of_people_is_the_least() -> None:
    for each in (1, 3, 41):
        people = people_needed(41, 75, each, 0.001)
        assert (
            unfilled_probability(people, 41, 75, each)
            <= 0.001
            < unfilled_probability(people - 1, 41, 75, each)
        )
    assert people_needed(41, 75, 1, 0.0001) == 4_605


def test_people_take_part_as_often_as_it_takes_to_fill_lots() -> None:
    assert arms_per_person_for(5_000, 41, 75) == 1
    each = arms_per_person_for(600, 41, 75)
    assert (
        unfilled_probability(600, 41, 75, each)
        <= 0.01
        < unfilled_probability(600, 41, 75, each - 1)
    )
    with refuses(InputError, "few-people-for-the-lots"):
        arms_per_person_for(70, 41, 75)


def test_noise_grows_with_what_one_person_changes() -> None:
    assert noise_rate(1.0, 1) == 0.5
    assert noise_rate(3.0, 3) == 0.5
    assert noise_rate(1.0, 5, sampled=True) == 1 / 20


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_a_design_keeps_its_power_and_prefers_fewer_targets(epsilon: float) -> None:
    wanted = CertificateGoal(epsilon, gamma=0.2, lam=0.2)
    found = design(wanted)
    assert found.chance >= 0.9
    for each in (1, 2, 4, 8):
        other = design(wanted, arms_per_person=each)
        assert other.chance >= 0.9
        assert found.people <= 1.1 * other.people + 1
    assert design(wanted, people=found.people).chance >= 0.9
    assert design(wanted, people=10 * found.people).arms_per_person == 1
