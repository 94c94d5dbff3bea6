"""Run of one world through the platform half of a kind of audit, without noise."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from api.kinds.context import AuditContext, in_process_context
from api.operations.sensitivity.people import PeopleWorld
from api.platforms.interfaces import Platform

# Fields of a content that a world reads: its index among the scores of a person.
CONTENTS: list[Mapping[str, str]] = [{"title": "0"}, {"title": "1"}]


def platform_of(world: PeopleWorld) -> Platform:
    """Return a platform over one small world, with all capabilities other than policies."""
    return Platform("small", people=world, scores=world, logs=world, directory=world)


def context_of(world: PeopleWorld) -> AuditContext:
    """Return the context of an audit of a world, with the balances of its people."""
    return in_process_context(platform_of(world), balances=world)


@contextmanager
def coupled(seed: int) -> Iterator[None]:
    """Draw every secret of a reduction from the seed, the same way in neighbouring worlds."""
    word = (seed + 1) * 0x9E3779B97F4A7C15
    drawn = secrets.randbits
    secrets.randbits = lambda k: word % 2**k
    try:
        yield
    finally:
        secrets.randbits = drawn
