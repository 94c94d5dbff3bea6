"""Nonces: each party has one of its own in every run, and the run depends on both."""

import numpy as np

from privacy.two_party.domain_separation import run_of, weights_label, zero_label
from tests.privacy.two_party.runs import random_world, small


def test_every_party_of_every_run_has_a_nonce_of_its_own() -> None:
    world = random_world(small(6), np.array([3, -1, 0, 3, 2, -1]))
    hellos = [world.auditor().start() for _ in range(3)]
    assert len(set(hellos)) == 3
    # The same first message, and another answer by every platform party.
    welcomes = [world.platform().receive(hellos[0]) for _ in range(3)]
    assert len(set(welcomes)) == 3


def test_a_run_is_named_by_its_terms_and_both_nonces() -> None:
    """Were one of them left out, a party could make two runs share their public randomness."""
    terms, asked, answered, other = (bytes([number]) * 32 for number in range(4))
    runs = {
        run_of(terms, asked, answered),
        run_of(other, asked, answered),
        run_of(terms, other, answered),
        run_of(terms, asked, other),
    }
    assert len(runs) == 4


def test_no_two_ciphertexts_have_the_same_uniform_half() -> None:
    runs = (bytes(32), bytes([1]) * 32)
    labels = [zero_label(run, ring) for run in runs for ring in range(2)]
    labels += [weights_label(run, ring, n) for run in runs for ring in range(2) for n in range(2)]
    assert len(set(labels)) == len(labels)
