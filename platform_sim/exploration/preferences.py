"""Preferences, completed from past choices: the truth of an audit of envy.

Everybody has chosen some items, popular ones and those of their taste more often. The truth is this
history completed by matrix factorisation and clipped to [0, 1]: the probability that a person likes
an item.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5 (how their ground truth is made).
[HKV08] Hu, Koren, Volinsky, Collaborative filtering for implicit feedback datasets, ICDM 2008.
"""

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.exploration.matrix_completion import complete

Floats = NDArray[np.float64]
_TASTES = 24
_CHOICES = 25
_UNLIKE = 0.9
_SURE = 5.0
_RIDGE = 0.5
_TRUTH_RIDGE = 10.0


def make_choices(seed: int, people: int, items: int) -> NDArray[np.bool_]:
    """Return choices: popular items and items that people like; some people choose many."""
    rng = stream(seed, "choices")
    likes = rng.dirichlet(np.full(_TASTES, 0.15), people) @ rng.dirichlet(
        np.full(items, 0.1), _TASTES
    )
    popular = (1 + np.arange(items)) ** -0.6
    pull = likes / likes.sum(axis=1, keepdims=True) + 0.3 * popular / popular.sum()
    activity = _CHOICES * np.exp(_UNLIKE * rng.standard_normal((people, 1)))
    wanted = np.minimum(activity * pull, 0.95)
    return np.asarray(rng.random((people, items)) < wanted)


def make_preferences(seed: int, people: int, items: int, factors: int = 48) -> Floats:
    """Return ρ^m(a), the probability that person m likes item a."""
    return complete_preferences(seed, make_choices(seed, people, items), factors)


def complete_preferences(seed: int, chosen: NDArray[np.bool_], factors: int = 48) -> Floats:
    """Return the probabilities behind the choices, with this number of factors."""
    # Confidence 1 + 5 in chosen items, 1 in others [HKV08]
    confidence = np.where(chosen, 1 + _SURE, 1.0)
    scores = complete(chosen.astype(float), confidence, factors, seed=seed, ridge=_TRUTH_RIDGE)
    return np.clip(scores, 0.0, 1.0)


def learn(seed: int, preferences: Floats, factors: int, seen: float = 0.2) -> Floats:
    """Return the scores of a recommender with `factors` factors that saw a random part of the
    truth.

    The first factor is popularity, the same for everybody; the others fit what it leaves.
    """
    shown = (stream(seed, "shown").random(preferences.shape) < seen).astype(float)
    popular = (shown * preferences).sum(axis=0) / np.maximum(shown.sum(axis=0), 1)
    if factors == 1:
        return np.tile(popular, (len(preferences), 1))
    rest = complete(preferences - popular, shown, factors - 1, seed=seed, ridge=_RIDGE)
    return np.asarray(popular + rest)
