import numpy as np
import pytest

from platform_sim.people.demographics import ATTRIBUTES, make_demographics


def test_every_value_of_every_attribute_occurs() -> None:
    who = make_demographics(1, 20_000, correlation=1.0)
    for attribute, values in ATTRIBUTES.items():
        assert all(who.having(attribute, value).any() for value in values)


def test_politics_leans_on_gender_only_when_correlated() -> None:
    for correlation, low, high in ((1.0, 0.1, 0.4), (0.0, -0.05, 0.05)):
        who = make_demographics(1, 20_000, correlation)
        left = who.having("politics", "left")
        gap = left[who.having("gender", "woman")].mean() - left[who.having("gender", "man")].mean()
        # At 0 the standard error of the gap is .0067: .05 is seven of them.
        assert low < gap < high


def test_unknown_attribute_and_value_are_refused() -> None:
    who = make_demographics(1, 10, correlation=1.0)
    with pytest.raises(ValueError, match=r"'height'.*\bgender\b"):
        who.codes("height")
    with pytest.raises(ValueError, match=r"'female'.*\bwoman\b"):
        who.having("gender", "female")


def test_first_people_of_a_seed_are_the_same_codes_again() -> None:
    one, other = (make_demographics(3, 1_000, 0.5) for _ in range(2))
    assert np.array_equal(one.politics, other.politics)
