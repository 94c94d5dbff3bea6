"""Terms of a run in the service: what a request and an audience declare is what is priced."""

from fractions import Fraction

import pytest

from privacy.metric_values import Layout
from privacy.two_party.service_terms import service_terms
from privacy.two_party.terms import Entries, RunTerms

PLAIN = Layout(("a", "b"), 10, 0, 10, 15)
MOVING = Layout(("a", "b"), 10, -10, 10, 15, moved=7)


def terms_of(
    layout: Layout = PLAIN, candidates: int | None = None, epsilon: str = "0.5"
) -> RunTerms:
    return service_terms(
        "audit",
        rows=100,
        groups=3,
        layout=layout,
        weight_scale=20,
        epsilon=Fraction(epsilon),
        candidates=candidates,
    )


@pytest.mark.parametrize("layout", [PLAIN, MOVING])
def test_a_hidden_audience_reaches_twice_as_far_as_an_upload(layout: Layout) -> None:
    """A new person may displace another in the platform's side of public size."""
    uploaded, hidden = terms_of(layout), terms_of(layout, candidates=500)
    assert hidden.candidates == 500
    assert hidden.bounds.added.l1 == 2 * uploaded.bounds.added.l1
    assert hidden.bounds.changed.l1 == 2 * uploaded.bounds.changed.l1


def test_weights_are_shares_of_one_person_and_values_those_of_the_layout() -> None:
    found = terms_of()
    assert found.weights == Entries(0, 20, 20)
    assert found.values == Entries(0, 10, 15)
    assert (found.rows, found.groups, found.cells, found.moved) == (100, 3, 2, 0)
    assert found.bounds.added.l1 == 20 * 15
    assert terms_of(MOVING).bounds.added.l1 == 20 * (15 + 7)


@pytest.mark.parametrize("candidates", [None, 500])
def test_there_is_room_for_noise_of_64_times_its_scale(candidates: int | None) -> None:
    """|noise| is beyond 64 scales with probability 2·e⁻⁶⁴; with less room sums would wrap."""
    found = terms_of(candidates=candidates)
    assert found.noise == 64 * found.bounds.added.l1 * 2
