"""Audits of envy against a known truth; crashes, withdrawals, bad rewards; what one can move."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from api.kernel.errors import NoConsentError, UnsupportedAuditError
from api.kinds.context import AuditContext, in_process_context
from api.kinds.envy_freeness import EnvyFreeness, drawn_from
from api.kinds.envy_freeness.algorithms import BatchOutcomes, Terms
from api.kinds.envy_freeness.algorithms.checkpoint import pack_state, unpack_state
from api.kinds.envy_freeness.exploration import Course, explore
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots
from api.kinds.registry import AudienceFacts, offered
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Platform
from api.telemetry.metrics import MENDED_REWARDS
from privacy import waist
from privacy.plans.envy_freeness import COST_UNIT
from privacy.tables.membership import Membership
from tests.exploring import Notebook, Recommendations, asked, content, envious
from tests.refusals import refuses

KIND = EnvyFreeness()
FACTS = AudienceFacts(("g0", "g1"), 1, None, members=400, consented=True)
TERMS = Terms(0.01, 0.3, 0.5, bounds="tight", ceiling=300)
EVERYBODY = np.arange(24)
SECRET = 99
EXACT = {"criterion": "exact", "gamma": None, "lam": None, "arms_per_person": None}


def platform_of(policies: Any) -> Platform:
    people: Any = None
    return Platform("test", people, policies=policies)


def context_of(policies: Any) -> AuditContext:
    return in_process_context(platform_of(policies), journal=Notebook())


def cells(request: Any, policies: Recommendations, people: Any = EVERYBODY) -> dict[str, Any]:
    plan = KIND.plan(request, FACTS)
    groups = (people[: len(people) // 2], people[len(people) // 2 :])
    made = KIND.reduce(request, plan, [], Membership(groups, 1), context_of(policies))
    return {name: table.cells.tolist() for name, table in made.items()}


def everywhere(people: Any, secret: int) -> DrawnLots:
    """Eight lots with five arms each; everybody may be drawn into any of them."""
    return draw_lots(people, 8, 5, 8, secret)


def explored(
    policies: Recommendations, notebook: Notebook, draw: Any = everywhere, people: Any = EVERYBODY
) -> BatchOutcomes:
    return explore(policies, notebook, TERMS, people, draw, SECRET)


def test_somebody_of_two_groups_takes_part_as_one_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice in the list they could have twice as many lots as the price counts."""
    monkeypatch.setattr("api.kinds.envy_freeness.secrets.randbits", lambda _: SECRET)
    request = asked(bounds="tight", targets=4, arms=2, steps=200, arms_per_person=1)
    plan = KIND.plan(request, FACTS)
    world = Recommendations(np.random.default_rng(5).random((24, 24)))

    def tables(*groups: Any) -> dict[str, Any]:
        people = Membership(groups, len(groups))
        made = KIND.reduce(request, plan, [], people, context_of(world))
        return {name: table.cells.tolist() for name, table in made.items()}

    once = tables(EVERYBODY)
    assert tables(EVERYBODY, EVERYBODY[12:]) == once
    assert tables(EVERYBODY[12:], EVERYBODY, EVERYBODY) == once


@pytest.mark.parametrize(
    ("bounds", "sizes"),
    [
        ("tight", {"targets": 8, "arms": 5, "steps": 400, "arms_per_person": 8}),
        ("tight", {"targets": 2, "arms": 5, "steps": 400, "arms_per_person": 1}),
        ("printed", {"targets": 3, "arms": 2, "steps": 2500, "arms_per_person": 2}),
    ],
)
def test_the_truth_is_found(
    bounds: str, sizes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.kinds.envy_freeness.secrets.randbits", lambda _: SECRET)
    request = asked(bounds=bounds, tolerance="0.5", **sizes)
    fair = cells(request, Recommendations(content(24)))
    assert fair["counts"] == [0, request.targets]
    found = cells(request, Recommendations(envious(24)))
    assert found["counts"] == [request.targets, 0]
    assert 0 < found["duration"][0] < request.targets * request.steps
    # To explore is a gain for those who are served badly.
    assert -request.targets * request.steps * COST_UNIT < found["cost"][0] < 0


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


def same(one: BatchOutcomes, other: BatchOutcomes) -> bool:
    pairs = (
        (getattr(one, name), getattr(other, name)) for name in ("codes", "steps", "pulls", "sums")
    )
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.kinds.envy_freeness.exploration.BATCH_STEPS", 25)


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


@pytest.mark.usefixtures("small_batches")
def test_a_course_of_an_earlier_version_goes_on() -> None:
    """Its state has no numbers of lots: rows are numbered as they are."""
    policies, notebook = Fragile(mixed(24)), Notebook()
    policies.dies_at = 12
    with pytest.raises(Crash):
        explored(policies, notebook)
    arrays = unpack_state(notebook.states[-1])
    assert (arrays.pop("lots") == np.arange(8)).all()
    notebook.write(pack_state(arrays))
    assert same(explored(policies, notebook), explored(Fragile(mixed(24)), Notebook()))


def test_a_course_that_goes_on_has_the_secret_and_the_numbers_of_its_lots() -> None:
    """Chance follows from both. By the order of rows, one lot more would change that of others."""
    every = everywhere(EVERYBODY, SECRET)
    drawn = DrawnLots(every.policies[1:], every.lots[1:], spare=1)
    course = Course.begin(TERMS, drawn, SECRET, "sha256:0")
    resumed, planned = Course.read(TERMS, course.written(planned=True))
    assert (resumed.secret, resumed.digest, planned) == (SECRET, "sha256:0", True)
    assert (resumed.drawn.lots.tolist(), resumed.drawn.spare) == (drawn.lots.tolist(), 1)
    assert np.array_equal(resumed.drawn.policies, drawn.policies)


class LeavingNow(Notebook):
    """A platform on which a person (default: the first) withdraws after a batch was planned."""

    def __init__(self, policies: Recommendations, persons: Any, batch: int = 1) -> None:
        super().__init__()
        self.policies, self.persons, self.batch = policies, persons, batch

    def write(self, state: bytes) -> None:
        super().write(state)
        if len(self.states) == self.batch:
            self.policies.agreeing[self.persons] = False


@pytest.mark.usefixtures("small_batches")
def test_who_withdraws_takes_no_step_more_is_shown_to_nobody_and_moves_nobody_else() -> None:
    drawn = everywhere(EVERYBODY, SECRET)
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


def same_rows(one: BatchOutcomes, other: BatchOutcomes, rows: Any) -> bool:
    return bool((one.pulls[rows] == other.pulls[rows]).all())


@pytest.mark.parametrize(("spare", "certified"), [(0, False), (1, True)])
def test_a_target_is_certified_without_its_spare_arms(
    spare: int, certified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has a verdict when an arm of the first target withdraws, and all would have one."""
    monkeypatch.setattr("api.kinds.envy_freeness.exploration.BATCH_STEPS", 10)

    def draw(people: Any, secret: int) -> DrawnLots:
        return replace(draw_lots(people, 3, 12, 3, secret), spare=spare)

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

    def draw(people: Any, secret: int) -> DrawnLots:
        return replace(draw_lots(people, 3, 12, 3, secret), spare=spare)

    policies = Recommendations(content(24))
    drawn = draw(EVERYBODY, SECRET)
    persons = np.setdiff1d(drawn.policies[0, 1:], drawn.policies[1:])[:2]
    outcomes = explored(policies, LeavingNow(policies, persons, batch=8), draw)
    assert max(outcomes.steps) < 8 * 25
    assert outcomes.verdicts == ["no-envy" if certified else "undecided", "no-envy", "no-envy"]


def test_arms_that_may_withdraw_follow_from_the_request_alone() -> None:
    """None of the fewest that may be asked for; the same number, however many people there are."""
    asks: dict[str, Any] = {"gamma": "0.1", "lam": "0.1", "delta": "0.05", "targets": 41}
    for people in (np.arange(400), np.arange(121), np.arange(1)):
        for arms, spare in ((75, 0), (120, 2)):
            request = asked(**asks, arms=arms, arms_per_person=20)
            assert drawn_from(people, request, SECRET).spare == spare


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


def four_five_and_six(people: Any, secret: int) -> DrawnLots:
    """Three targets, two of them with rewards that are wrong."""
    return DrawnLots(np.array([[4, 0, 1, 2], [5, 0, 1, 2], [6, 0, 1, 2]]), np.arange(3))


def test_bad_rewards_are_cut_and_nobody_can_tell() -> None:
    before = MENDED_REWARDS._value.get()
    outcomes = explored(Wild(content(24)), Notebook(), four_five_and_six)
    # Own rewards that are not numbers count as 0, others' as 1: person 4 is envious. Person 5, of
    # whom nothing is known, gets nothing from anybody, and envies nobody.
    assert outcomes.verdicts == ["envy", "no-envy", "no-envy"]
    assert MENDED_REWARDS._value.get() > before


@pytest.mark.parametrize("people", [0, 1])
def test_too_few_matches_are_no_failure(people: int) -> None:
    found = cells(asked(), Recommendations(content(24)), EVERYBODY[:people])
    assert found == {"counts": [0, 0], "duration": [0], "cost": [0]}


def test_who_never_consented_is_shown_nothing() -> None:
    policies = Recommendations(content(24))
    policies.agreeing[::2] = False
    found = cells(asked(targets=6, arms=5, steps=300, arms_per_person=6), policies)
    assert found["counts"][1] > 0
    assert {target for _, target, _ in policies.shown} <= set(range(1, 24, 2))
    assert not set(policies.shown.values()) & set(range(0, 24, 2))


def test_a_changed_model_ends_the_course(small_batches: None) -> None:
    policies = Recommendations(content(24))

    class Changing(Notebook):
        def write(self, state: bytes) -> None:
            super().write(state)
            policies.policies_digest = "sha256:" + "2" * 64

    with refuses(PlatformDownError, "policies-changed"):
        explored(policies, Changing())


def test_a_lot_that_begins_or_ends_leaves_the_chance_of_all_others_as_it_is() -> None:
    """By the printed bounds chance chooses arms: each lot has its own, whichever others run."""
    terms = replace(TERMS, bounds="printed", ceiling=800)
    alike = Recommendations(np.full((24, 24), 0.5))
    every = everywhere(EVERYBODY, SECRET)

    def some(people: Any, secret: int) -> DrawnLots:
        return DrawnLots(every.policies[1:], every.lots[1:])

    whole = explore(alike, Notebook(), terms, EVERYBODY, lambda *_: every, SECRET)
    fewer = explore(alike, Notebook(), terms, EVERYBODY, some, SECRET)
    assert (whole.pulls[1:] == fewer.pulls).all()


def test_the_noise_is_that_of_the_reach() -> None:
    for each, sampled in ((1, False), (1, True), (5, False), (5, True)):
        request = asked(epsilon="2", steps=1000, cost_epsilon="1", arms_per_person=each)
        plan = KIND.plan(request, replace(FACTS, fixed_slots=sampled))
        scales = {name: each.scale for name, each in plan.items()}
        lots = 2 * each if sampled else each
        reach = {"counts": lots, "duration": 2000 * lots, "cost": 2000 * COST_UNIT * lots}
        assert scales == pytest.approx(reach)
        exact = waist.price(plan)
        assert exact.amount("epsilon", "add-remove") == 3.5
        assert exact.amount("epsilon", "change-one") == 7
    none = KIND.plan(asked(duration_epsilon="0", cost_epsilon="0"), FACTS)
    assert list(none) == ["counts"]


def test_it_is_offered_where_there_are_policies() -> None:
    assert "envy-freeness" in offered(platform_of(Recommendations(content(2))))
    assert "envy-freeness" not in offered(platform_of(None))


@pytest.mark.parametrize(
    ("changes", "facts", "case", "named"),
    [
        ({}, {"members": 1}, "few-people", [2]),
        ({"targets": 11}, {}, "targets", [12, 400]),
        ({"targets": 401}, {}, "targets", [12, 400]),
        ({"arms": 10}, {}, "arms", [17, 399]),
        ({"steps": 3}, {}, "too-few-steps", [3]),
        ({"targets": 40, "arms": 20}, {}, "few-people-for-the-lots", [840]),
        (
            {"targets": 40, "arms": 20, "arms_per_person": 2},
            {"members": 419},
            "few-people-for-the-lots",
            [420],
        ),
        ({"arms_per_person": 13}, {}, "arms-per-person", [12]),
        ({"arms_per_person": None}, {}, "no-arms-per-person", ["arms_per_person"]),
        (EXACT, {}, "exact-criterion", []),
        ({"targets": 9999, "arms": 9999}, {"members": 10_000}, "too-many-pairs", [500_000]),
    ],
)
def test_what_cannot_be_asked(
    changes: dict[str, Any], facts: dict[str, Any], case: str, named: list[object]
) -> None:
    platform = platform_of(Recommendations(content(2)))
    KIND.check(asked(), FACTS, platform)
    with refuses(UnsupportedAuditError, case, *named, "charged"):
        KIND.check(asked(**changes), replace(FACTS, **facts), platform)


def test_what_would_last_for_years() -> None:
    platform = platform_of(Recommendations(content(2), step_seconds=86_400))
    with refuses(UnsupportedAuditError, "too-many-days", 2000, 366):
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
        {"arms_per_person": 0},
        {"arms_per_person": 101},
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
