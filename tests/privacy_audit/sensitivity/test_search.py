"""The search finds planted mistakes, on the worlds that CI enumerates."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from api.kinds import most_skewed
from api.kinds.envy_freeness import EnvyFreeness
from api.kinds.protocol import AudienceFacts
from api.kinds.registry import KINDS
from api.operations.sensitivity.families import CI
from privacy.plans import most_skewed as plan
from privacy.tables.bounded_table import Bounds, Reach
from privacy.tables.membership import Membership
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE
from privacy.waist import DiscreteLaplace, tree
from tests.privacy_audit.sensitivity.kinds import GENERATORS
from tests.privacy_audit.sensitivity.options import Option
from tests.privacy_audit.sensitivity.search import Result, search

QUICK = replace(CI, examples=1)


def option_of(kind: str, name: str) -> Option:
    [found] = [option for option in GENERATORS[kind](QUICK) if option.name == name]
    return found


def searched(kind: str, name: str) -> Result:
    return search(option_of(kind, name), QUICK)


def facts_without(monkeypatch: pytest.MonkeyPatch, kind: str, **changes: Any) -> None:
    """A kind that looks at the audience, and forgets one thing about it."""
    plan = type(KINDS[kind]).plan

    def forgetful(self: Any, request: Any, audience: AudienceFacts) -> Any:
        return plan(self, request, replace(audience, **changes))

    monkeypatch.setattr(type(KINDS[kind]), "plan", forgetful)


SAMPLES = [
    ("score-histogram", "Laplace, sample"),
    ("score-histogram", "Gaussian, sample"),
    ("score-cdf", "sample"),
    ("log-cdf", "1 row(s), sample"),
    ("reo", "Laplace, 1 row(s), sample"),
    ("reo", "Gaussian, 2 row(s), sample"),
    ("outcome-test", "Laplace, 1 row(s), sample"),
    ("balance-histogram", "2 bin(s), sample"),
    ("envy-freeness", "counts, sample"),
]
IN_TWO_GROUPS = [
    ("score-histogram", "Laplace, upload, 2 groups each"),
    ("score-cdf", "upload, 2 groups each"),
    ("match-count", "upload, 2 groups each"),
    ("log-cdf", "1 row(s), upload, 2 groups each"),
    ("reo", "Laplace, 1 row(s), upload, 2 groups each"),
    ("outcome-test", "Laplace, 1 row(s), upload, 2 groups each"),
    ("balance-histogram", "2 bin(s), upload, 2 groups each"),
]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_of_samples_nothing_is_found_without_a_mistake(kind: str, name: str) -> None:
    """`make privacy-audit` searches the same worlds, and larger ones."""
    assert not searched(kind, name).violated


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_forgotten_slots_are_found(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts_without(monkeypatch, kind, fixed_slots=False)
    assert searched(kind, name).violated


@pytest.mark.parametrize(("kind", "name"), IN_TWO_GROUPS)
def test_forgotten_groups_are_found(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    facts_without(monkeypatch, kind, groups_per_person=1)
    assert searched(kind, name).violated


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("log-cdf", "2 row(s), upload"),
        ("reo", "Gaussian, 2 row(s), upload"),
        ("outcome-test", "Laplace, 2 row(s), upload"),
        ("bias-size", "Laplace, no place(s), 2 row(s), upload"),
    ],
)
def test_forgotten_rows_are_found(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Bounds.rows

    def one_row(shape: Any, row: Reach, rows_per_person: int, groups: int, **slots: bool) -> Bounds:
        return rows(shape, row, 1, groups, **slots)

    monkeypatch.setattr(Bounds, "rows", one_row)
    assert searched(kind, name).violated


@pytest.mark.parametrize(
    "wrong",
    [min, lambda weights: round(sum(weights) / 2)],
    ids=["the smallest weight", "the mean weight"],
)
@pytest.mark.parametrize("name", ["weights 3 and 1, upload", "weights 1 and 4, upload"])
def test_a_wrong_weight_is_found(
    name: str, wrong: Callable[[Any], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "max", wrong, raising=False)
    assert searched("most-skewed", name).violated


def test_squared_weights_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    reduce = most_skewed.MostSkewed.reduce

    def squared(self: Any, request: Any, *others: Any) -> Any:
        weights = tuple(weight**2 for weight in request.weights)
        return reduce(self, request.model_copy(update={"weights": weights}), *others)

    monkeypatch.setattr(most_skewed.MostSkewed, "reduce", squared)
    assert searched("most-skewed", "weights 3 and 1, upload").violated


@pytest.mark.parametrize("kind", ["score-cdf", "log-cdf"])
def test_a_tree_one_level_short_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raised = tree._tree_reach
    monkeypatch.setattr(tree, "_tree_reach", lambda reach, height: raised(reach, height - 1))
    assert searched(kind, "upload" if kind == "score-cdf" else "1 row(s), upload").violated


def test_lots_counted_once_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    facts_without(monkeypatch, "envy-freeness", fixed_slots=False)
    assert searched("envy-freeness", "counts, sample").violated


def test_one_lot_in_place_of_two_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = EnvyFreeness.plan

    def one_lot(self: EnvyFreeness, request: Any, audience: AudienceFacts) -> Any:
        return plan(self, request.model_copy(update={"arms_per_person": 1}), audience)

    monkeypatch.setattr(EnvyFreeness, "plan", one_lot)
    assert searched("envy-freeness", "counts, 2 lots each").violated


def test_people_in_more_groups_than_declared_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Membership.from_groups
    monkeypatch.setattr(
        Membership, "from_groups", lambda groups, most: original(groups, 2 * most), raising=True
    )
    assert searched("match-count", "upload").violated


@pytest.mark.parametrize("metric", ["histogram", "outcomes", "AUC, 2 rows"])
def test_hidden_people_who_displace_nobody_in_the_price_are_found(
    metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts_without(monkeypatch, "two-party", candidates=None)
    assert searched("two-party", f"{metric}, hidden").violated


@pytest.mark.parametrize(
    ("factor", "found"),
    [(Fraction(1, 2), "more than it claims"), (Fraction(2), "too weak")],
    ids=["halved", "doubled"],
)
def test_a_bound_that_is_off_by_a_factor_is_found(factor: Fraction, found: str) -> None:
    """Too narrow, it is violated; too wide, it is not attained where it is meant to be."""
    option = option_of("match-count", "upload, 2 groups each")
    [(name, mechanism)] = option.plan.items()
    assert isinstance(mechanism, DiscreteLaplace)
    bounds = replace(
        mechanism.bounds,
        added=_times(factor, mechanism.bounds.added),
        changed=_times(factor, mechanism.bounds.changed),
    )
    vars(option)["plan"] = {name: replace(mechanism, bounds=bounds)}
    assert any(found in wrong for wrong in search(option, QUICK).wrong)


def _times(factor: Fraction, reach: Reach) -> Reach:
    return Reach(int(factor * reach.l1), int(factor * reach.l2_squared), max(1, reach.linf))


def test_a_search_that_is_too_weak_fails() -> None:
    option = option_of("match-count", "sample")
    demanding = replace(option, attains={ADD_REMOVE: 1.0, CHANGE_ONE: 1.0})
    assert not search(option, QUICK).violated
    assert search(demanding, QUICK).violated


def test_what_must_be_refused_and_runs_is_wrong() -> None:
    option = option_of("match-count", "upload")
    assert search(replace(option, refused=True), QUICK).violated
    refused = option_of("most-skewed", "upload, 2 groups each")
    assert search(refused, QUICK).refused
    assert search(replace(refused, refused=False), QUICK).violated
