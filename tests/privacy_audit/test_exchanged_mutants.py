"""Two-party sums without their noise, or without flooding, are caught, and so is a wrong price."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privacy.tables.sensitivity import Products
from privacy.two_party import EncryptedTable, NoisySums, randomness
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import Case
from tests.privacy_audit.statistical import LONG_RUNS, RUNS, audit

pytestmark = pytest.mark.long

# Half of what `make privacy-audit` takes. Of 100 that choose and 100 that measure, all on one side
# show an epsilon of 1.6, and the few whose ciphertexts look alike by chance leave 1.3 or more: far
# above the 0.5 that is claimed. That nothing is violated takes more, and is shown there.
QUICK = RUNS // 2


@pytest.fixture
def case() -> Case:
    [found] = [case for case in cases() if case.name == "two parties, decrypted sums"]
    return replace(found, request={**found.request, "epsilon": "0.5"})


@pytest.fixture
def intersected() -> Case:
    """Return the case of a hidden audience as it is."""
    [found] = [case for case in cases() if case.name == "two parties, intersection"]
    return found


def violated(case: Case, runs: int = QUICK) -> dict[str, bool]:
    return {finding.mechanism: finding.violated for finding in audit(case, runs)}


def without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    plus = EncryptedTable.plus

    def bare(table: EncryptedTable, noise: np.ndarray) -> NoisySums:
        return plus(table, np.zeros_like(noise))

    monkeypatch.setattr(EncryptedTable, "plus", bare)


def reach_of(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Make the rule of sensitivity forget something, for the price and for the table alike."""
    right = Products.sensitivity
    monkeypatch.setattr(
        Products, "sensitivity", lambda rule, shape: right(replace(rule, **changes), shape)
    )


def test_sums_without_noise_are_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    without_noise(monkeypatch)
    assert violated(case)[case.name]


def test_an_intersection_without_noise_is_caught(
    intersected: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_noise(monkeypatch)
    assert violated(intersected)[intersected.name]


def test_an_intersection_whose_noise_forgets_weights_is_caught(
    intersected: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a third of the runs it shows 1.1 to 1.5 where 1 is claimed, which is too near."""
    reach_of(monkeypatch, largest_weight=1, total_weight=1)
    assert violated(intersected, 3 * QUICK)[intersected.name]


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_an_intersection_whose_noise_forgets_displacement_is_caught(
    intersected: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise for one person where two change places: half of what is needed, which takes more runs.

    Both people are in two cells each. At a claim of 2, of 5,000 that measure, enough have noise
    that goes one way in all four: they show 2.3 or so of the 4.
    """
    reach_of(monkeypatch, displacing=False)
    case = replace(intersected, request={**intersected.request, "epsilon": "2"}, share=0.05)
    assert violated(case, LONG_RUNS)[case.name]


def test_ciphertexts_without_flooding_are_caught(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plus = EncryptedTable.plus

    def bare(table: EncryptedTable, noise: np.ndarray) -> NoisySums:
        """Nor are they switched down, which rounds much away; but where sums go to the auditor."""
        if not noise.any():
            return plus(table, noise)
        [sums] = table.sums
        made = (sums.flooded(cell, int(number)) for cell, number in enumerate(noise.ravel()))
        words = [np.concatenate([half[:, :1], uniform], axis=1) for half, uniform in made]
        return NoisySums(np.stack(words)[:, np.newaxis])

    monkeypatch.setattr(EncryptedTable, "plus", bare)
    monkeypatch.setattr(randomness, "uniform_within", lambda bound: 0)
    found = violated(case)
    assert found[f"{case.name}, ciphertexts"]
    assert not found[case.name]
