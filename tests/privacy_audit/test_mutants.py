"""The audit catches mistakes: mutants of the code it audits, at the size that CI runs.

A mutant that survives by bad luck would fail these tests: every one of them is at least six
standard deviations from that, so the false-failure probability is below 1e-8 each.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership, Persons
from privacy.tables.price import ADD_REMOVE
from privacy.waist import gaussian, laplace, selection
from privacy.waist.calibration import Calibrated, find_scale
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import Case
from tests.privacy_audit.statistical import LONG_RUNS, RUNS, audit

pytestmark = pytest.mark.long

Mutate = Callable[[pytest.MonkeyPatch], None]
# Of logs: how rows are drawn and what they reach is tried out by brute force in tests/api.
OF_LOGS = ("outcome moments", "equal opportunity", "size of a bias", "cdf of a log")
# Of envy and of two parties: test_envy_mutants, test_exchanged_mutants. None of the mutants here is
# in what a refund or a repeated request goes through.
ELSEWHERE = ("envy", "two parties", "refunds")
CASES = {
    f"{case.name}, {case.relation}": case
    for case in cases()
    if not case.name.startswith((*OF_LOGS, *ELSEWHERE))
}
LAPLACE_OF_LOGS = {
    case.name: case
    for case in cases()
    if case.name.startswith(OF_LOGS[:3])
    and case.currency == "epsilon"
    and case.relation == ADD_REMOVE
}
LAPLACE = "histogram, Laplace, known sizes"
# Laplace noise and selection; the others take minutes.
QUICK = {
    f"{LAPLACE}, add-remove",
    "match count, add-remove",
    "most skewed, noisy max, add-remove",
}


# In these, everybody is in one place once, or more noise hides what a mutant does from few runs.
OTHERS = ("sample", "weights", "lists", "clipping", "composition")


def each(*without: str, relation: str = "") -> pytest.MarkDecorator:
    """The cases in which a mutant changes anything, the slow ones marked."""
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=name, marks=[] if name in QUICK else [pytest.mark.full])
            for name, case in CASES.items()
            if not case.name.startswith((*without, *OTHERS)) and case.relation.startswith(relation)
        ],
    )


def caught(case: Case, runs: int = RUNS) -> bool:
    return any(finding.violated for finding in audit(case, runs))


def narrower(factor: float) -> Mutate:
    """Noise of a scale that is a factor of what is priced and told."""

    def mutate(monkeypatch: pytest.MonkeyPatch) -> None:
        def made(wanted: Calibrated) -> Any:
            return wanted.make(find_scale(wanted) * factor)

        for module in (laplace, gaussian, selection):
            monkeypatch.setattr(module, "make_calibrated", made)

    return mutate


def no_deduplication(monkeypatch: pytest.MonkeyPatch) -> None:
    """People uploaded twice count twice, and the check against it is removed."""

    def from_groups(groups: list[Persons], groups_per_person: int) -> Membership:
        found = tuple(np.sort(group[group >= 0]) for group in groups)
        return Membership(found, groups_per_person)

    monkeypatch.setattr(Membership, "__post_init__", lambda _: None)
    monkeypatch.setattr(Membership, "from_groups", from_groups)


def twice_as_many_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person counts in twice as many groups as was declared and priced."""
    original = Membership.from_groups

    def from_groups(groups: list[Persons], groups_per_person: int) -> Membership:
        return replace(original(groups, 2 * groups_per_person), groups_per_person=groups_per_person)

    monkeypatch.setattr(Membership, "from_groups", from_groups)


def counted_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every person adds two."""
    original = Table.tally

    def tally(bounds: Bounds, cell: Any) -> Table:
        return original(bounds, np.repeat(cell, 2))

    monkeypatch.setattr(Table, "tally", tally)


@each()
def test_a_halved_scale_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    narrower(0.5)(monkeypatch)
    assert caught(case)


@each("most skewed, noisy max")
def test_a_missing_deduplication_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    no_deduplication(monkeypatch)
    assert caught(case)


@each("most skewed, noisy max", relation="add-remove")
def test_a_doubled_number_of_groups_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    twice_as_many_groups(monkeypatch)
    assert caught(case)


@each("match count")
def test_a_doubled_reach_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    counted_double(monkeypatch)
    assert caught(case)


@pytest.mark.parametrize("name", [f"{LAPLACE}, add-remove", "match count, add-remove"])
def test_a_scale_that_is_a_fifth_too_small_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrower(0.8)(monkeypatch)
    assert caught(CASES[name])


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(OTHERS)])
def test_a_halved_scale_is_caught_in_the_other_cases(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrower(0.5)(monkeypatch)
    assert caught(CASES[name], LONG_RUNS)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", LAPLACE_OF_LOGS)
def test_a_halved_scale_is_caught_in_audits_of_logs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an epsilon shared by six cells, 20,000 runs have too little power."""
    narrower(0.5)(monkeypatch)
    assert caught(LAPLACE_OF_LOGS[name], LONG_RUNS)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", CASES)
def test_a_scale_that_is_a_fifth_too_small_is_caught_everywhere(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrower(0.8)(monkeypatch)
    assert caught(CASES[name], LONG_RUNS)
