import numpy as np

from platform_sim.draws.randomness import draw_uniform, stream


def test_a_stream_is_known_by_seed_and_name() -> None:
    first = stream(1, "a").random(5)
    assert np.array_equal(first, stream(1, "a").random(5))
    assert not np.array_equal(first, stream(1, "b").random(5))
    assert not np.array_equal(first, stream(2, "a").random(5))


def test_a_lot_does_not_depend_on_who_else_is_asked_for() -> None:
    everybody = np.arange(1_000)
    some = np.array([999, 3, 3, 500])
    assert np.array_equal(draw_uniform(1, "a", everybody)[some], draw_uniform(1, "a", some))


def test_lots_are_uniform_and_unrelated_between_names() -> None:
    people = np.arange(100_000)
    one, other = draw_uniform(1, "a", people), draw_uniform(1, "b", people)
    assert one.min() >= 0
    assert one.max() < 1
    # Kolmogorov: P(distance > t) ≤ 2 exp(-2 n t²) = 8e-9 at t = .01 (seeded, so it never varies).
    distance = np.abs(np.sort(one) - people / len(people)).max()
    assert distance < 0.01
    # A correlation of 100,000 independent pairs has standard error .0032; .02 is over six of them.
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.02
