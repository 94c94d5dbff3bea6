"""Past content that people saw: its topic and its text.

The topic determines who clicked, and only the world knows it. The model reads the text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from platform_sim.content.vocabulary import KIND_WORDS, KINDS, TOPIC_WORDS
from platform_sim.draws.randomness import stream
from platform_sim.people.interests import TRADES
from platform_sim.people.occupations import OCCUPATIONS

_PIECES = {"job": 180, "housing": 40, "credit": 30, "news": 90, "political": 60}


@dataclass(frozen=True)
class Piece:
    """One piece of past content, with its latent topic."""

    topic: str
    content: Mapping[str, Any]


def make_catalogue(seed: int) -> tuple[Piece, ...]:
    rng = stream(seed, "catalogue")
    return tuple(
        _piece(rng, kind, KINDS[kind][number % len(KINDS[kind])])
        for kind, count in _PIECES.items()
        for number in range(count)
    )


def _piece(rng: np.random.Generator, kind: str, topic: str) -> Piece:
    about = list(rng.permutation(TOPIC_WORDS[topic].split())[: rng.integers(4, 9)])
    around = list(rng.permutation(KIND_WORDS[kind].split())[: rng.integers(1, 5)])
    content = {
        "kind": kind,
        "title": " ".join(about[:2]),
        "text": " ".join(about[2:] + around),
        "attributes": _attributes(rng, kind, topic),
        "image": b"image" if rng.random() < 0.5 else None,
    }
    return Piece(topic, content)


def _attributes(rng: np.random.Generator, kind: str, topic: str) -> dict[str, str]:
    """Return attributes; half of the jobs state their occupation."""
    if kind != "job" or rng.random() < 0.5:
        return {}
    return {"occupation": OCCUPATIONS[TRADES.index(topic)]}
