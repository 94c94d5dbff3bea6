"""The state search from every beginning, in parallel, in a fixed order."""

import logging
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.privacy_audit.parts import Outcome
from tests.privacy_audit.states.search import Found, search

# Where searches begin: an empty service, and one with an audience of each source.
SCENES: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "audiences": ("upload", "seal upload", "hide"),
}
# The number of operations that follow.
DEPTHS = {"nothing": 5, "audiences": 4}
LONG_DEPTHS = {"nothing": 6, "audiences": 5}


def run(*, long: bool) -> Iterator[str | Outcome]:
    """Search from every beginning; yield what was done, each violation, then the outcome."""
    depths, found = LONG_DEPTHS if long else DEPTHS, list[Found]()
    with ProcessPoolExecutor(min(len(depths), os.cpu_count() or 1)) as pool:
        for scene, each in zip(depths, pool.map(_searched, depths.items()), strict=True):
            found.append(each)
            yield from _rows(scene, each)
    depth = ", ".join(f"{depths[scene]} from {scene}" for scene in depths)
    operations = sum(each.transitions for each in found)
    states = sum(each.states for each in found)
    looked_at = f"state search: {operations} operations, {states} states, depth {depth}"
    yield Outcome(looked_at, sum(len(each.violations) for each in found))


def _searched(asked: tuple[str, int]) -> Found:
    scene, depth = asked
    logging.disable(logging.CRITICAL)  # faults and crashes are injected by the thousand
    return search(depth, SCENES[scene])


def _rows(scene: str, found: Found) -> Iterator[str]:
    """Yield what was done from one beginning, and the shortest ways to violations."""
    counts = ", ".join(f"{count} {name}" for name, count in sorted(found.operations.items()))
    yield f"from {scene}, depth {found.depth}: {counts}"
    for path, wrong in found.violations:
        yield f"VIOLATED after: {' → '.join(path)}"
        yield from (f"    {sentence}" for sentence in wrong)
