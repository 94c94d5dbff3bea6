"""How a figure is taken, shown and written down."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results.json"


@dataclass(frozen=True)
class Figure:
    """Seconds of ours and of the floor (or a peer), and their ratio."""

    name: str
    ours: float
    floor_or_peer: float
    ratio: float
    goal: str
    command: str


def compare(
    name: str,
    ours: Callable[[], object],
    floor: Callable[[], object],
    *,
    goal: str,
    command: str,
    rounds: int = 5,
) -> Figure:
    """Run both in turns, so that a slow moment of the machine hits both; take the medians."""
    times = [(_seconds(ours), _seconds(floor)) for _ in range(rounds)]
    mine, theirs = (median(column) for column in zip(*times, strict=True))
    return Figure(name, mine, theirs, mine / theirs, goal, command)


def publish(figures: list[Figure]) -> None:
    """Print the table and write it into `results.json`, where other figures stay."""
    table = Table("figure", "ours", "floor or peer", "ratio", "goal")
    for figure in figures:
        seconds = (f"{figure.ours:.3f} s", f"{figure.floor_or_peer:.3f} s")
        table.add_row(figure.name, *seconds, f"{figure.ratio:.2f}", figure.goal)
    Console().print(table)
    taken = {figure.name: asdict(figure) for figure in figures}
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    written = {figure["name"]: figure for figure in kept} | taken
    RESULTS.write_text(json.dumps(list(written.values()), indent=2) + "\n")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
