"""Audits of envy: people as targets, as arms, and as absent."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience, Source
from api.operations.sensitivity.families import Family, Size
from api.operations.sensitivity.people import Human
from privacy.tables.price import Relation
from tests.privacy_audit.sensitivity.options import Option, shares

KIND = "envy-freeness"
SOURCES: tuple[Source, ...] = ("upload", "confirmed", "sample")
# People enough for lots that run with and without one of them.
PEOPLE = 14
# A change is priced as a removal and an addition, which fall into the same lots.
_COUNTS = shares(1.0, 0.5)
# Two lots at once rarely turn by both counts: three units of four are found.
_DISPLACED = shares(0.75, 0.375)
_PART = shares(0.3, 0.15)
_BASE: dict[str, Any] = {
    "alpha": "1",
    "tolerance": "1",
    "delta": "0.4",
    "gamma": "0.9",
    "lam": "0.9",
    "targets": 3,
    "arms": 2,
    "steps": 400,
    "arms_per_person": 1,
    "epsilon": "1",
    "duration_epsilon": "0",
    "cost_epsilon": "0",
}
_OTHER_NUMBERS: dict[str, Any] = {
    "alpha": "0.8",
    "tolerance": "0.9",
    "delta": "0.3",
    "gamma": "0.8",
    "lam": "0.8",
    "bounds": "printed",
    "steps": 900,
    "arms": 3,
    "epsilon": "2",
}
# Neither covers people as arms: both must be refused.
_NOT_COVERED: dict[str, dict[str, Any]] = {
    "exact criterion": {
        "criterion": "exact",
        "gamma": None,
        "lam": None,
        "targets": 2 * PEOPLE,
        "arms": 2 * PEOPLE - 1,
        "arms_per_person": None,
    },
    "arms not covered": {"arms_per_person": None},
}


def options(size: Size) -> list[Option]:
    upload = _audience("upload")
    sums = {"duration_epsilon": "1", "cost_epsilon": "1"}
    found = [
        _option(
            f"counts, {source}",
            _BASE,
            _audience(source),
            size,
            _DISPLACED if source == "sample" else _COUNTS,
        )
        for source in SOURCES
    ]
    found += [
        _option("counts, 2 lots each", _BASE | {"arms_per_person": 2, "targets": 4}, upload, size),
        _option("counts, duration and cost", _BASE | sums, upload, size, _PART),
        _option("other numbers", _BASE | _OTHER_NUMBERS, upload, size, _PART),
    ]
    # Nobody can declare the consent of people whom the platform is not shown.
    found.append(_option("counts, hidden", _BASE, SearchedAudience("hidden", people=PEOPLE), size))
    found += [
        replace(_option(name, _BASE | changes, upload, size), refused=True)
        for name, changes in _NOT_COVERED.items()
    ]
    return found


def _audience(source: Source) -> SearchedAudience:
    size = PEOPLE - 2 if source == "sample" else 1
    return SearchedAudience(source, groups=1, people=PEOPLE, size=size, consented=True)


def _option(
    name: str,
    asked: dict[str, Any],
    audience: SearchedAudience,
    size: Size,
    attains: Mapping[Relation, float] = _COUNTS,
) -> Option:
    # Two lots, of one person or of two who displace each other, rarely turn at once.
    rare = asked["arms_per_person"] == 2 or audience.source == "sample"
    seeds = size.seeds * (6 if rare else 1)
    families = _families(audience, seeds)
    return Option(KIND, name, asked, audience, families, _any_taste(), attains, sampled=True)


def content(number: int, people: int) -> Human:
    """Somebody who likes their own recommendations and no others."""
    return Human(likes=tuple(float(arm == number) for arm in range(people)))


def envious(number: int, people: int) -> Human:
    """Somebody who likes everybody's recommendations but their own."""
    return Human(likes=tuple(float(arm != number) for arm in range(people)))


def _families(audience: SearchedAudience, seeds: int) -> Callable[[], Iterable[Family]]:
    """Others who are alike, and others of whom some are envied by everybody else."""
    count = audience.people

    def families() -> Iterator[Family]:
        for number, seed in product((0, 7), range(seeds)):
            variants = list(_variants(number, count))
            rest = [who for who in range(count) if who != number]
            if seed == 0:
                for of_others in (content, envious):
                    others = {who: of_others(who, count) for who in rest}
                    yield Family(others, number, variants, seed)
            for part in range(4):
                others = {who: _envied(count, part > 0 and who % 3 == part - 1) for who in rest}
                yield Family(others, number, variants[1:3], seed)

    return families


def _envied(people: int, envied: bool) -> Human:
    """Somebody who gets nothing from anything, and whose recommendations everybody would like."""
    return Human(likes=(0.0,) * people, liked=(float(envied),) * people)


def _variants(number: int, people: int) -> Iterator[Human]:
    """Yield the person's tastes, others' rewards from them, and consent."""
    for likes, liked in product((content, envious), (None, 0.0, 1.0)):
        own = likes(number, people).likes
        given = None if liked is None else _given(own[number], liked, number, people)
        yield Human(likes=own, liked=given)
    yield Human(likes=content(number, people).likes, consents=False)


def _given(own: float, liked: float, number: int, people: int) -> tuple[float, ...]:
    return tuple(own if who == number else liked for who in range(people))


def _any_taste() -> st.SearchStrategy[Human]:
    worth = st.sampled_from([0.0, 1.0])
    tastes = st.lists(worth, min_size=PEOPLE, max_size=PEOPLE).map(tuple)
    return st.builds(
        Human, likes=tastes, liked=st.none() | tastes, consents=st.sampled_from([True, True, False])
    )
