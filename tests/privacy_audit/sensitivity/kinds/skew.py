"""The most skewed of two contents, by report noisy max."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from math import nan
from typing import Any

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Family, Size
from api.operations.sensitivity.people import Human
from tests.privacy_audit.sensitivity.kinds.scores import edges, larger, scored
from tests.privacy_audit.sensitivity.options import CONTENT_ID, Option, audiences, shares, worlds

# Bystanders of the lighter group, and what those of the heavier one weigh in its weights.
_LIGHT, _RATIO = 40, 45
WEIGHTS = ([1, 1], [3, 1], [1, 4], [2, 3])


def options(size: Size) -> list[Option]:
    base = {"contents": [CONTENT_ID] * 2, "bins": edges(size), "epsilon": "1"}
    extras: dict[str, dict[str, Any]] = {
        f"weights {one} and {other}": {"weights": [one, other]} for one, other in WEIGHTS
    }
    extras["levels"] = {"bins": {"levels": [n + 0.5 for n in range(size.bins)]}, "epsilon": "2"}
    extras["at night"] = {"context": {"hour": "night"}}
    found = []
    for name, extra in extras.items():
        for source, audience in audiences(size, several=False).items():
            if source in ("upload", "sample") or name == "weights 1 and 1":
                found.append(_option(f"{name}, {source}", base | extra, audience, size))
    two = SearchedAudience(groups_per_person=2, people=size.people)
    refused = _option("upload, 2 groups each", base, two, size, refused=True)
    return [*found, refused]


def _option(
    name: str, asked: Any, audience: SearchedAudience, size: Size, *, refused: bool = False
) -> Option:
    day = "context" not in asked
    humans = scored(audience, size, contents=2)
    heavy, light = _by_weight(asked)
    if audience.source == "sample":
        look = worlds(audience, humans, humans, size)
        # One person in each group: a skew moves by the lighter weight alone.
        attains = shares(light / heavy, light / (2 * heavy))
    else:
        audience = replace(audience, people=_LIGHT + _heavy(asked) + 1)
        small = worlds(replace(audience, people=size.people), humans, humans, size)
        crowd = _crowd(asked, day=day)
        look = _both(small, Family(crowd, len(crowd), humans if day else _at_night(humans)))
        # Between the groups one person moves a skew by both weights; within one, by one of them.
        attains = shares(1.0, (heavy + light) / (2 * heavy))
    return Option("most-skewed", name, asked, audience, look, larger(audience), attains, refused)


def _by_weight(asked: Any) -> tuple[int, int]:
    weights = asked.get("weights", [1, 1])
    return max(weights), min(weights)


def _heavy(asked: Any) -> int:
    heavy, light = _by_weight(asked)
    return round(_RATIO * light / heavy)


def _crowd(asked: Any, *, day: bool) -> dict[int, Human]:
    """Enough bystanders that one skew is the heavy group's and the other the light group's.

    In both, the largest difference is in the first bin, by more than anybody changes. There
    somebody of the heavy group adds to the first skew what they take from the second.
    """
    weights = asked.get("weights", [1, 1])
    strong = weights.index(max(weights))
    first, *rest = (0.5, 1.5, nan) if day else (0.5, -0.5, nan)
    heavy = [Human((strong,), scores=(first, rest[n % 2])) for n in range(_heavy(asked))]
    light = [Human((1 - strong,), scores=(rest[n % 2], first)) for n in range(_LIGHT)]
    return dict(enumerate([*heavy, *light]))


def _at_night(humans: list[Human]) -> list[Human]:
    return [replace(human, scores=tuple(1 - each for each in human.scores)) for human in humans]


def _both(small: Callable[[], Iterable[Family]], crowd: Family) -> Callable[[], Iterable[Family]]:
    return lambda: chain(small(), [crowd])
