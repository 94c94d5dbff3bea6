import numpy as np
import pytest

from auditor_client.envy import bernoulli_divergence


@pytest.mark.parametrize("arm", [0.3, 0.6, 0.9])
def test_the_least_gain_is_that_of_a_search(arm: float) -> None:
    own, margin, pulls, home = 0.7, 0.05, 100.0, 300.0
    b = np.linspace(min(arm, own + margin), max(arm, own + margin), 20_001)[1:-1]
    values = pulls * bernoulli_divergence.entropy(np.array(arm), b)
    values = values + home * bernoulli_divergence.entropy(np.array(own), b - margin)
    found = bernoulli_divergence.least_divergence(
        np.array(arm), np.array(own + margin), margin, np.array(pulls), np.array(home)
    )
    assert float(found) == pytest.approx(values.min(), rel=1e-3)
