"""One world through the platform's half of an audit, without noise."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from api.kinds.context import AuditContext, in_process_context
from api.platforms.interfaces import Platform
from tests.exploring import Notebook
from tests.privacy_audit.sensitivity.people import Tastes, World

# The fields of a content that a world reads: its place among the scores of a person.
CONTENTS: list[Mapping[str, str]] = [{"title": "0"}, {"title": "1"}]


def platform_of(world: World) -> Platform:
    """All capabilities, of one small world."""
    return Platform(
        "small",
        people=world,
        scores=world,
        logs=world,
        policies=Tastes(world),
        directory=world,
    )


def context_of(world: World) -> AuditContext:
    """Return the platform of a world, with the balances of its people."""
    return in_process_context(platform_of(world), balances=world, journal=Notebook())


@contextmanager
def coupled(seed: int) -> Iterator[None]:
    """Draw every secret of a reduction from the seed, the same way in neighbouring worlds."""
    word = (seed + 1) * 0x9E3779B97F4A7C15
    with patch("secrets.randbits", lambda bits: word % 2**bits):
        yield
