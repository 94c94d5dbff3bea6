"""Two-party sums without their noise, or without flooding, are caught."""

from dataclasses import replace

import numpy as np
import pytest

from privacy.two_party import EncryptedTable, NoisySums, randomness
from tests.privacy_audit.cases import cases
from tests.privacy_audit.runs import Case
from tests.privacy_audit.statistical import RUNS, audit

pytestmark = pytest.mark.long

# Half of what `make privacy-audit` takes. Of 100 that choose and 100 that measure, all on one side
# show an epsilon of 1.6, and the few whose ciphertexts look alike by chance leave 1.3 or more: far
# above the 0.5 that is claimed. That nothing is violated takes more, and is shown there.
QUICK = RUNS // 2


@pytest.fixture
def case() -> Case:
    [found] = [case for case in cases() if case.name == "two parties, decrypted sums"]
    return replace(found, request={**found.request, "epsilon": "0.5"})


def violated(case: Case) -> dict[str, bool]:
    return {finding.mechanism: finding.violated for finding in audit(case, QUICK)}


def test_sums_without_noise_are_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    plus = EncryptedTable.plus

    def bare(table: EncryptedTable, noise: np.ndarray) -> NoisySums:
        return plus(table, np.zeros_like(noise))

    monkeypatch.setattr(EncryptedTable, "plus", bare)
    assert violated(case)[case.name]


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
    monkeypatch.setattr(randomness, "within", lambda bound: 0)
    found = violated(case)
    assert found[f"{case.name}, ciphertexts"]
    assert not found[case.name]
