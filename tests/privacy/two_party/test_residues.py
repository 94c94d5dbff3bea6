"""Signed residues: exact within a third of the modulus, and an overflow shows."""

from math import prod

import pytest
import seal
from hypothesis import given
from hypothesis import strategies as st

from privacy.errors import BoundsError
from privacy.two_party.errors import OverflowedError
from privacy.two_party.residues import MODULI, combine_residues, moduli_for


def test_moduli_are_distinct_primes_that_pack_slots() -> None:
    assert len(set(MODULI)) == len(MODULI)
    assert all(seal.Modulus(modulus).is_prime() for modulus in MODULI)
    assert all(modulus % 32_768 == 1 for modulus in MODULI)


@given(st.integers(1, 4), st.data())
def test_finds_every_integer_within_a_third(count: int, data: st.DataObject) -> None:
    moduli = MODULI[:count]
    third = prod(moduli) // 3
    number = data.draw(st.integers(-third, third))
    assert combine_residues([number % modulus for modulus in moduli], moduli) == number


@given(st.integers(1, 4), st.data())
def test_an_overflow_by_less_than_a_third_shows(count: int, data: st.DataObject) -> None:
    moduli = MODULI[:count]
    whole = prod(moduli)
    number = data.draw(st.integers(whole // 3 + 1, 2 * whole // 3))
    for sign in (1, -1):
        with pytest.raises(OverflowedError):
            combine_residues([(sign * number) % modulus for modulus in moduli], moduli)


def test_takes_as_few_moduli_as_it_can() -> None:
    assert len(moduli_for(MODULI[0] // 3)) == 1
    assert len(moduli_for(MODULI[0] // 3 + 1)) == 2
    assert len(moduli_for(2**81)) == 2
    with pytest.raises(BoundsError):
        moduli_for(prod(MODULI))
