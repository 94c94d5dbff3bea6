"""The state search from every beginning, in parallel, in a fixed order."""

import gc
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.privacy_audit.parts import Outcome
from tests.privacy_audit.states.search import Found, search


@dataclass(frozen=True)
class Scene:
    """The start of a search, its operations at either size, and their granularity."""

    beginning: tuple[str, ...]
    depth: int
    long_depth: int
    # Two-party runs step by step, in two processes; without it, each run is one operation.
    fine: bool = False


UPLOADED = ("upload", "seal upload")
SCENES: dict[str, Scene] = {
    # The one that takes longest is the first.
    "audiences": Scene((*UPLOADED, "hide"), 4, 5),
    "nothing": Scene((), 4, 6),
    "a sample": Scene(("sample",), 3, 5),
    "a hidden run": Scene(("hide", "charge two-party, hidden"), 4, 6, fine=True),
    "an uploaded run": Scene((*UPLOADED, "charge two-party, upload"), 4, 6, fine=True),
}


def run(*, long: bool) -> Iterator[str | Outcome]:
    """Search from every beginning; yield what was done, each violation, then the outcome."""
    depths = {name: scene.long_depth if long else scene.depth for name, scene in SCENES.items()}
    found = list[Found]()
    with ProcessPoolExecutor(min(len(depths), os.cpu_count() or 1), initializer=gc.freeze) as pool:
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
    begun = SCENES[scene]
    return search(depth, begun.beginning, fine=begun.fine)


def _rows(scene: str, found: Found) -> Iterator[str]:
    """Yield what was done from one beginning, and the shortest ways to violations."""
    counts = ", ".join(f"{count} {name}" for name, count in sorted(found.operations.items()))
    yield f"from {scene}, depth {found.depth}: {counts}"
    for path, wrong in found.violations:
        yield f"VIOLATED after: {' → '.join(path)}"
        yield from (f"    {sentence}" for sentence in wrong)
