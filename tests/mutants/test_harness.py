"""The harness itself: nothing but a failed assertion kills, and a stale mutant is an error."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import takewhile

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import ROOT, Mutant, StaleMutantError
from tests.mutants.trial import Outcome, Trial
from tests.mutants.verdict import judged, unsound

TEST = "tests/privacy/tables/test_bounded_table.py::test_noise_goes_onto_a_copy"
MUTANT = Mutant("m", "Wrong.", "privacy/tables/sensitivity.py", "k = 2 *", "k = 1 *", (TEST,))
PASSED = Outcome(TEST, "call", passed=True)


def failed(*exceptions: str, phase: str = "call", message: str = "") -> Trial:
    return Trial((Outcome(TEST, phase, False, exceptions, message),))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_no_mutant_is_stale(mutant: Mutant) -> None:
    """It changes its file, and each of its tests is in a file that is there."""
    assert mutant.source() != (ROOT / mutant.file).read_text()
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        function = "".join(takewhile(lambda letter: letter != "[", name))
        assert f"def {function}(" in (ROOT / file).read_text()


def test_mutants_have_names_of_their_own_and_say_what_is_wrong() -> None:
    names = Counter(mutant.name for mutant in MUTANTS)
    assert max(names.values()) == 1
    assert len(names) >= 40
    assert all(mutant.wrong.endswith(".") for mutant in MUTANTS)


@pytest.mark.parametrize("before", ["no such text", "Reach(", ""])
def test_a_text_that_is_not_there_once_is_stale(before: str) -> None:
    with pytest.raises(StaleMutantError):
        replace(MUTANT, before=before).source()


def test_a_replacement_that_changes_nothing_is_stale() -> None:
    with pytest.raises(StaleMutantError):
        replace(MUTANT, after=MUTANT.before).source()


def test_an_assertion_kills_and_a_pass_survives() -> None:
    assert judged(MUTANT, failed("AssertionError")).state == "killed"
    assert judged(MUTANT, failed("Failed", message="DID NOT RAISE")).state == "killed"
    assert judged(MUTANT, Trial((PASSED,))).state == "survived"
    assert judged(MUTANT, Trial(())).state == "survived"


def test_all_named_tests_must_fail() -> None:
    both = replace(MUTANT, tests=(TEST, "other"))
    assert judged(both, failed("AssertionError")).state == "survived"


@pytest.mark.parametrize(
    "trial",
    [
        failed("NameError", "Exception"),
        failed("ImportError"),
        failed("AssertionError", phase="setup"),
        failed("AssertionError", phase="teardown"),
        failed("Failed", message="Timeout (>300.0s) from pytest-timeout."),
        Trial((), "tests/x.py was not collected"),
        Trial((PASSED,), "the tests never import privacy.tables.sensitivity"),
    ],
)
def test_an_accident_does_not_kill(trial: Trial) -> None:
    assert judged(MUTANT, trial).state == "error"


def test_an_exception_kills_only_where_it_is_declared() -> None:
    declared = replace(MUTANT, raises=("IndexError",))
    assert judged(declared, failed("IndexError", "LookupError")).state == "killed"
    assert judged(declared, failed("KeyError", "LookupError")).state == "error"


def test_tests_must_be_there_and_pass_without_a_mutant() -> None:
    assert unsound(Trial((PASSED,)), (TEST,)) == []
    assert unsound(Trial((PASSED,)), (TEST, "other"))
    assert unsound(failed("AssertionError"), (TEST,))
    assert unsound(Trial((), "broken"), (TEST,))


PROGRAM = """
import json, sys
from dataclasses import replace
from tests.mutants.forking import Order, tried
from tests.mutants.test_harness import MUTANT
from tests.mutants.trial import preload
from tests.mutants.verdict import judged
tables = "tests/privacy/tables/test_bounded_table.py"
tree = tables + "::test_who_displaces_another_moves_the_cells_of_both"
mutants = [
    replace(MUTANT, name="killed", tests=(tree,)),
    MUTANT,
    replace(MUTANT, name="broken", before="from math import isqrt", after="from math import isqr"),
]
orders = [Order(mutant.tests, mutant) for mutant in mutants]
preload()
trials = tried(orders, 2)
states = {o.mutant.name: judged(o.mutant, trial).state for o, trial, _ in trials}
json.dump(states, sys.stdout)
"""


def test_the_module_of_a_mutant_is_mutated_in_its_own_process_alone() -> None:
    run = [sys.executable, "-c", PROGRAM]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert json.loads(found) == {"killed": "killed", "m": "survived", "broken": "error"}
    assert "k = 2 *" in (ROOT / MUTANT.file).read_text()
