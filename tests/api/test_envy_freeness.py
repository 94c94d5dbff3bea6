"""Audits of envy against a known truth; crashes, withdrawals, bad rewards; what one can move."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from api.audits import AudienceFacts, offered
from api.audits.envy import Outcomes, Terms
from api.audits.envy_freeness import UNIT, EnvyFreeness, drawn_from, tallied
from api.audits.exploring import explore
from api.audits.taking_part import Drawn, draw_lots, draw_shared, spare_arms
from api.errors import NoConsentError, UnsupportedAuditError
from api.metrics import MENDED_REWARDS
from api.platform import Platform
from privacy import waist
from privacy.membership import Membership
from tests.exploring import Notebook, Recommendations, asked, content, envious

KIND = EnvyFreeness()
FACTS = AudienceFacts(("g0", "g1"), 1, None, members=400, consented=True)
TERMS = Terms(0.01, 0.3, 0.5, bounds="tight", ceiling=300)
EVERYBODY = np.arange(24)
SECRET = 99


def platform_of(policies: Any, journal: Notebook | None = None) -> Platform:
    people: Any = None
    return Platform("test", people, policies=policies, journal=journal or Notebook())


def cells(request: Any, policies: Recommendations, people: Any = EVERYBODY) -> dict[str, Any]:
    question = KIND.question(request, FACTS)
    groups = (people[: len(people) // 2], people[len(people) // 2 :])
    made = KIND.reduce(request, question, [], Membership(groups, 1), platform_of(policies))
    return {name: table.cells.tolist() for name, table in made.items()}


def shared(people: Any, secret: int) -> Drawn:
    return draw_shared(people, 8, 5, secret)


def explored(
    policies: Recommendations, notebook: Notebook, draw: Any = shared, people: Any = EVERYBODY
) -> Outcomes:
    return explore(policies, notebook, TERMS, people, draw, SECRET)


@pytest.mark.parametrize(
    ("bounds", "people", "changes"),
    [
        ("tight", 24, {"targets": 8, "arms": 5, "steps": 400}),
        ("tight", 8, {"targets": 8, "arms": 7, "steps": 600, "criterion": "exact"}),
        ("printed", 3, {"targets": 3, "arms": 2, "steps": 1500, "criterion": "exact"}),
    ],
)
def test_the_truth_is_found(bounds: str, people: int, changes: dict[str, Any]) -> None:
    exact: dict[str, Any] = {"gamma": None, "lam": None} if "criterion" in changes else {}
    request = asked(bounds=bounds, tolerance="0.5", **changes, **exact)
    fair = cells(request, Recommendations(content(24)), EVERYBODY[:people])
    assert fair["counts"] == [0, request.targets]
    found = cells(request, Recommendations(envious(24)), EVERYBODY[:people])
    assert found["counts"] == [request.targets, 0]
    assert 0 < found["duration"][0] < request.targets * request.steps
    # To explore is a gain for those who are served badly.
    assert -request.targets * request.steps * UNIT < found["cost"][0] < 0


class Crash(BaseException):
    """The process dies."""


class Fragile(Recommendations):
    """Dies at one of its calls, after people were shown something and before anybody is told."""

    dies_at: int | None = None

    def rewards(self, *asked: Any) -> Any:
        found = super().rewards(*asked)
        if self.calls == self.dies_at:
            raise Crash
        return found


def mixed(people: int) -> Any:
    return np.where(np.arange(people)[:, None] % 2, envious(people), content(people))


def same(one: Outcomes, other: Outcomes) -> bool:
    pairs = (
        (getattr(one, name), getattr(other, name)) for name in ("codes", "steps", "pulls", "sums")
    )
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.audits.exploring.BATCH_STEPS", 25)


@pytest.mark.parametrize("dies_at", [1, 12, 60])
@pytest.mark.usefixtures("small_batches")
def test_after_a_crash_no_step_is_repeated_or_uncounted(dies_at: int) -> None:
    whole = Fragile(mixed(24))
    through = explored(whole, Notebook())
    policies, notebook = Fragile(mixed(24)), Notebook()
    policies.dies_at = dies_at
    with pytest.raises(Crash):
        explored(policies, notebook)
    resumed = explored(policies, notebook)
    assert same(resumed, through)
    assert policies.shown == whole.shown
    assert resumed.steps.sum() == len(policies.shown)
    assert (resumed.steps > 0).all()


class LeavingNow(Notebook):
    """Somebody withdraws after a batch was planned, the first unless told."""

    def __init__(self, policies: Recommendations, persons: Any, batch: int = 1) -> None:
        super().__init__()
        self.policies, self.persons, self.batch = policies, persons, batch

    def write(self, state: bytes) -> None:
        super().write(state)
        if len(self.states) == self.batch:
            self.policies.agreeing[self.persons] = False


@pytest.mark.usefixtures("small_batches")
def test_who_withdraws_takes_no_step_more_is_shown_to_nobody_and_moves_nobody_else() -> None:
    drawn = shared(EVERYBODY, SECRET)
    alike = np.full((24, 24), 0.5)
    person, where = drawn.targets[3], np.argwhere(drawn.policies[:, 1:] == drawn.targets[3])
    through, policies = Recommendations(alike), Recommendations(alike)
    before = explored(through, Notebook())
    after = explored(policies, LeavingNow(policies, person))
    assert after.verdicts[3] == "withdrawn"
    assert after.steps[3] == 25
    last = max(step for (_, _, step), arm in policies.shown.items() if arm == person)
    assert last < 25
    alone = np.setdiff1d(np.arange(8), [3, *where[:, 0]])
    assert len(where)
    assert same_rows(before, after, alone)


def same_rows(one: Outcomes, other: Outcomes, rows: Any) -> bool:
    return bool((one.pulls[rows] == other.pulls[rows]).all())


@pytest.mark.parametrize(("spare", "certified"), [(0, False), (1, True)])
def test_a_target_is_certified_without_so_many_arms_as_are_to_spare(
    spare: int, certified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has a verdict when an arm of the first target withdraws, and all would have one."""
    monkeypatch.setattr("api.audits.exploring.BATCH_STEPS", 10)

    def draw(people: Any, secret: int) -> Drawn:
        return replace(draw_shared(people, 3, 12, secret), spare=spare)

    policies = Recommendations(content(24))
    drawn = draw(EVERYBODY, SECRET)
    person = int(np.setdiff1d(drawn.policies[0, 1:], drawn.policies[1:])[0])
    outcomes = explored(policies, LeavingNow(policies, person), draw)
    assert outcomes.verdicts[1:] == ["no-envy", "no-envy"]
    assert outcomes.verdicts[0] == ("no-envy" if certified else "undecided")


@pytest.mark.parametrize(("spare", "certified"), [(0, True), (1, False), (2, True)])
@pytest.mark.usefixtures("small_batches")
def test_who_withdraws_after_the_verdict_counts_where_arms_are_to_spare(
    spare: int, certified: bool
) -> None:
    """Which arms stayed must not depend on when a target had a verdict."""

    def draw(people: Any, secret: int) -> Drawn:
        return replace(draw_shared(people, 3, 12, secret), spare=spare)

    policies = Recommendations(content(24))
    drawn = draw(EVERYBODY, SECRET)
    persons = np.setdiff1d(drawn.policies[0, 1:], drawn.policies[1:])[:2]
    outcomes = explored(policies, LeavingNow(policies, persons, batch=8), draw)
    assert max(outcomes.steps) < 8 * 25
    assert outcomes.verdicts == ["no-envy" if certified else "undecided", "no-envy", "no-envy"]


def test_arms_to_spare_leave_the_promise_as_it_is() -> None:
    """However many of the others are envied, if they are more than gamma, by brute force."""
    for others, gamma in product((9, 20, 60), (0.1, 0.3, 0.6)):
        for arms, level in product(range(1, others), (0.1, 0.01)):
            spare = spare_arms(arms, gamma, level)
            envied = math.floor(gamma * others) + 1
            missed = hypergeom.cdf(spare, others, envied, arms)
            assert missed <= max(level, (1 - gamma) ** arms) + 1e-12
    assert spare_arms(75, 0.1, 0.05 / 123) == 0
    assert spare_arms(120, 0.1, 0.05 / 123) == 2


def test_so_many_arms_may_withdraw() -> None:
    """None that were asked for at the least; of all others, those that do not count."""
    asks: dict[str, Any] = {
        "targets": 41,
        "arms": 75,
        "gamma": "0.1",
        "lam": "0.1",
        "delta": "0.05",
    }
    people = np.arange(200)
    assert drawn_from(people, asked(**asks), SECRET).spare == 0
    assert drawn_from(people, asked(**asks | {"arms": 120}), SECRET).spare == 2
    assert drawn_from(people[:50], asked(**asks), SECRET).spare == 4
    exact: dict[str, Any] = {"criterion": "exact", "gamma": None, "lam": None}
    assert drawn_from(people[:9], asked(targets=9, arms=8, **exact), SECRET).spare == 8


@pytest.mark.usefixtures("small_batches")
def test_what_can_be_seen_from_outside_is_the_same_whatever_is_found() -> None:
    seen = []
    for utilities in (content(24), envious(24), np.full((24, 24), 0.5)):
        notebook = Notebook()
        explored(Recommendations(utilities), notebook)
        seen.append((len(notebook.states), notebook.waits))
    nobody = Notebook()
    explored(Recommendations(content(24)), nobody, people=EVERYBODY[:1])
    assert seen == [(len(nobody.states), nobody.waits)] * 3
    assert nobody.waits[-1] == pytest.approx(300e-6)


class Wild(Recommendations):
    """An adapter with values out of range for one person, and none at all for another."""

    def rewards(self, course: str, targets: Any, arms: Any, steps: Any) -> Any:
        found = super().rewards(course, targets, arms, steps)
        if 5 in targets:
            raise RuntimeError("no person 5")
        return np.where(targets == 4, np.where(arms == 4, np.nan, 7.0), found)


def test_bad_rewards_are_cut_and_nobody_can_tell() -> None:
    before = MENDED_REWARDS._value.get()
    request = asked(targets=24, arms=5, steps=300)
    found = cells(request, Wild(content(24)))
    # Own rewards that are not numbers count as 0, others' as 1: person 4 is envious. Person 5, of
    # whom nothing is known, gets nothing from anybody, and envies nobody.
    assert found["counts"][0] == 1
    assert found["counts"][1] >= 22
    assert MENDED_REWARDS._value.get() > before


@pytest.mark.parametrize("people", [0, 1])
def test_too_few_who_matched_is_no_failure(people: int) -> None:
    found = cells(asked(), Recommendations(content(24)), EVERYBODY[:people])
    assert found == {"counts": [0, 0], "duration": [0], "cost": [0]}


def test_who_never_consented_is_shown_nothing() -> None:
    policies = Recommendations(content(24))
    policies.agreeing[::2] = False
    found = cells(asked(targets=24, arms=11, steps=300), policies)
    assert found["counts"] == [0, 12]
    assert {target for _, target, _ in policies.shown} == set(range(1, 24, 2))
    assert not set(policies.shown.values()) & set(range(0, 24, 2))


def test_a_changed_model_ends_the_course(small_batches: None) -> None:
    policies = Recommendations(content(24))

    class Changing(Notebook):
        def write(self, state: bytes) -> None:
            super().write(state)
            policies.policies_digest = "sha256:" + "2" * 64

    with pytest.raises(Exception, match="policies changed"):
        explored(policies, Changing())


def test_arms_are_others_and_none_of_them_twice() -> None:
    drawn = draw_shared(np.arange(100, 140), 12, 17, 3)
    assert len(set(drawn.targets.tolist())) == 12
    for row in drawn.policies:
        assert len(set(row.tolist())) == 18
    assert draw_shared(np.arange(5), 12, 17, 3).policies.shape == (5, 5)


def test_in_lots_everybody_takes_part_once_and_moves_one_lot() -> None:
    people = np.sort(np.random.default_rng(1).choice(10**9, 400, replace=False))
    drawn = draw_lots(people, 10, 20, SECRET)
    assert drawn.policies.shape == (10, 21)
    assert len(np.unique(drawn.policies)) == 210
    before = {tuple(row) for row in drawn.policies.tolist()}
    for person in people[::20]:
        after = draw_lots(people[people != person], 10, 20, SECRET)
        assert len(before - {tuple(row) for row in after.policies.tolist()}) <= 1


def test_lots_are_uniform_and_short_ones_do_not_run() -> None:
    people = np.arange(6_000)
    lots = [draw_lots(people, 60, 5, secret).targets for secret in range(40)]
    # 2,400 targets: each third of the people has 800 but for chance, 5.5 standard errors.
    thirds = np.bincount(np.concatenate(lots) // 2_000, minlength=3)
    assert np.abs(thirds - 800).max() < 5.5 * np.sqrt(2_400 * 2 / 9)
    assert len(draw_lots(np.arange(30), 10, 5, SECRET).targets) < 5


@pytest.mark.parametrize("sampled", [False, True])
def test_one_person_moves_no_more_than_is_priced(sampled: bool) -> None:
    """In lots, whoever goes; in a sample of exact size, somebody else comes for them."""
    facts = replace(FACTS, fixed_slots=sampled)
    request = asked(targets=4, arms=3, steps=300, arms_per_person=1)
    bounds = {name: each.bounds for name, each in KIND.question(request, facts).items()}
    rng = np.random.default_rng(3)
    utilities = rng.choice([0.02, 0.98], (40, 40))

    def tables(people: Any) -> dict[str, Any]:
        policies = Recommendations(utilities)
        outcomes = explored(
            policies, Notebook(), lambda who, secret: draw_lots(who, 4, 3, secret), people
        )
        return tallied(outcomes, 300)

    before, moved = tables(np.arange(30)), 0
    for person in range(0, 30, 5):
        people = np.delete(np.arange(30), person)
        after = tables(np.append(people, 30 + person // 5) if sampled else people)
        for name, reach in bounds.items():
            far = np.abs(after[name] - before[name])
            moved += int(far.sum() > 0)
            assert far.sum() <= reach.added.l1
            assert far.max() <= reach.added.linf
    assert moved


def test_a_target_moves_one_count_and_nobody_else() -> None:
    """Shared arms: one person's rewards change altogether."""
    drawn = shared(EVERYBODY, SECRET)
    utilities = mixed(24)
    before = explored(Recommendations(utilities), Notebook())
    changed = utilities.copy()
    changed[drawn.targets[2]] = 1 - changed[drawn.targets[2]]
    after = explored(Recommendations(changed), Notebook())
    others = np.arange(8) != 2
    assert after.codes[2] != before.codes[2]
    assert (after.codes[others] == before.codes[others]).all()
    assert (after.steps[others] == before.steps[others]).all()
    bounds = KIND.question(asked(steps=300), FACTS)["counts"].bounds
    moved = np.abs(tallied(after, 300)["counts"] - tallied(before, 300)["counts"]).sum()
    assert moved == bounds.changed.l1 == 2


def test_the_noise_is_that_of_the_reach() -> None:
    question = KIND.question(asked(epsilon="2", steps=1000, cost_epsilon="1"), FACTS)
    scales = {name: each.scale for name, each in question.items()}
    assert scales == pytest.approx({"counts": 0.5, "duration": 2000, "cost": 1000 * UNIT})
    exact = waist.price(question)
    assert exact.of("epsilon", "add-remove") == 3.5
    assert exact.of("epsilon", "change-one") == 7
    lots = KIND.question(asked(epsilon="2", steps=1000, arms_per_person=1), FACTS)
    assert lots["counts"].scale == pytest.approx(1)
    none = KIND.question(asked(duration_epsilon="0", cost_epsilon="0"), FACTS)
    assert list(none) == ["counts"]


def test_it_is_offered_where_there_are_policies() -> None:
    assert "envy-freeness" in offered(platform_of(Recommendations(content(2))))
    assert "envy-freeness" not in offered(platform_of(None))


@pytest.mark.parametrize(
    ("changes", "facts", "why"),
    [
        ({}, {"members": 1}, "at least 2 people"),
        ({"targets": 11}, {}, "targets must be from 12 to 400"),
        ({"targets": 401}, {}, "targets must be from"),
        ({"arms": 10}, {}, "arms must be from 17 to 399"),
        ({"steps": 3}, {}, "3 steps cannot decide, whatever the rewards: at least"),
        ({"targets": 40, "arms": 20, "arms_per_person": 1}, {}, "840 people are needed"),
        ({"criterion": "exact", "gamma": None, "lam": None}, {}, "targets must be from 400 to 400"),
        ({"targets": 9999, "arms": 9999}, {"members": 10_000}, "targets times arms"),
    ],
)
def test_what_cannot_be_asked(changes: dict[str, Any], facts: dict[str, Any], why: str) -> None:
    platform = platform_of(Recommendations(content(2)))
    KIND.check(asked(), FACTS, platform)
    with pytest.raises(UnsupportedAuditError, match=why) as refused:
        KIND.check(asked(**changes), replace(FACTS, **facts), platform)
    assert "Nothing was charged" in str(refused.value)


def test_what_would_last_for_years() -> None:
    platform = platform_of(Recommendations(content(2), step_seconds=86_400))
    with pytest.raises(UnsupportedAuditError, match="2000 days, and 366 are allowed"):
        KIND.check(asked(), FACTS, platform)


def test_without_consent_nothing_begins() -> None:
    platform = platform_of(Recommendations(content(2)))
    with pytest.raises(NoConsentError, match="`consented`"):
        KIND.check(asked(), replace(FACTS, consented=False), platform)


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": "0"},
        {"alpha": "1.01"},
        {"tolerance": "0"},
        {"tolerance": "2"},
        {"delta": "0.5"},
        {"gamma": None},
        {"lam": "1"},
        {"criterion": "exact"},
        {"criterion": "exact", "gamma": None, "lam": None, "arms_per_person": 1},
        {"arms_per_person": 2},
        {"steps": 0},
        {"targets": 0},
        {"epsilon": "0"},
        {"cost_epsilon": "-1"},
        {"alpha": "NaN"},
    ],
)
def test_what_has_no_form(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        asked(**changes)


@pytest.mark.usefixtures("small_batches")
def test_who_has_ended_idles_once_and_not_again_after_every_wait() -> None:
    class Resting(Notebook):
        """Every wait is a return to the queue."""

        def wait_until(self, seconds: float, state: Callable[[], bytes]) -> None:
            if seconds > 0 and seconds not in self.waits:
                self.waits.append(seconds)
                self.write(state())
                raise Crash

    notebook, policies = Resting(), Recommendations(content(24))
    for _ in range(12):
        with pytest.raises(Crash):
            explored(policies, notebook)
    outcomes = explored(policies, notebook)
    assert same(outcomes, explored(Recommendations(content(24)), Notebook()))
    # Of each of twelve batches the plan, and what was left to the queue before it or at the end.
    assert len(notebook.states) == 24
