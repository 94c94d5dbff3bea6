import math

import pytest

from auditor_client.envy import sample_needed, sample_rule
from auditor_client.errors import InputError
from tests.refusals import refuses


@pytest.mark.parametrize(
    ("epsilon", "targets"), [(math.inf, 41), (4.0, 41), (2.0, 62), (1.0, 73), (0.5, 130)]
)
def test_what_the_noise_costs(epsilon: float, targets: int) -> None:
    rule = sample_needed(noise=epsilon)
    assert rule.targets == targets
    assert rule.chance() >= 0.9
    assert rule.wrong_up_to(rule.certify_up_to) <= rule.left
    # K = ⌈ln(3M̃/δ)/ln(1/(1-γ))⌉
    assert rule.arms == math.ceil(math.log(3 * targets / 0.05) / math.log(1 / 0.9))


def test_some_may_stay_undecided() -> None:
    rule = sample_needed(noise=1.0, uncertified=0.02)
    assert rule.targets > sample_needed(noise=1.0).targets
    assert rule.chance(0.02) >= 0.9
    assert sample_rule(73, noise=1.0).chance(0.02) < 0.9


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"\bpower\b"):
        sample_needed(power=1.0)
    with refuses(InputError, "share-above-lam", "lam", "0.1"):
        sample_needed(uncertified=0.1)
    with refuses(InputError, "never-enough-targets"):
        sample_needed(noise=1e-6)
