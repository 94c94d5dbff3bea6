"""Limits of metrics of lists, where the same people are in several of them."""

import pytest

from validation.list_coverage import ListDesign, covered, designs

DESIGNS = {design.name: design for design in designs()}


@pytest.mark.parametrize(
    "design",
    [
        DESIGNS[name]
        for name in ("NDCG, 2 lists, 3 places", "LOT, 1 lists, 1 places", "POT, 1 lists, 5 places")
    ],
    ids=lambda design: design.name.split(",")[0],
)
def test_limits_hold_with_noise(design: ListDesign) -> None:
    averages, differences, _ = covered(design, 200, 0.5, epsilon=2.0, repetitions=60)
    # Of 60 at 95 %: 45 or fewer with a chance below 1e-6.
    assert min(averages, differences) > 0.75
