"""Measurement, display and storage of figures."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results.json"
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "benchmarks.md"
MARK = "<!-- the figures of bench/results.json, written by `python -m bench` -->"


@dataclass(frozen=True)
class Figure:
    """Our value, the floor's (or a peer's), and their ratio; the default unit is seconds."""

    name: str
    ours: float
    floor_or_peer: float
    ratio: float
    goal: str
    command: str
    unit: str = "s"

    @classmethod
    def of(
        cls, name: str, ours: list[float], floor: list[float], goal: str, command: str
    ) -> "Figure":
        """Return the figure of some rounds: their medians, and the median of the ratios per
        round.
        """
        ratios = [mine / theirs for mine, theirs in zip(ours, floor, strict=True)]
        return cls(name, median(ours), median(floor), median(ratios), goal, command)


def compare(
    name: str,
    ours: Callable[[], object],
    floor: Callable[[], object],
    *,
    goal: str,
    command: str,
    rounds: int = 5,
) -> Figure:
    """Run both alternately, so that a slow moment of the machine affects both."""
    took = in_turns({"ours": ours, "floor": floor}, rounds)
    return Figure.of(name, took["ours"], took["floor"], goal, command)


def in_turns(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each function in each round, run alternately."""
    times = [[seconds(each) for each in work.values()] for _ in range(rounds)]
    return dict(zip(work, map(list, zip(*times, strict=True)), strict=True))


def publish(figures: list[Figure]) -> None:
    """Print the table and store it, in place of the earlier figures of the same commands."""
    table = Table("figure", "ours", "floor or peer", "ratio", "goal")
    for figure in figures:
        measured = (f"{each:.3f} {figure.unit}" for each in (figure.ours, figure.floor_or_peer))
        table.add_row(figure.name, *measured, f"{figure.ratio:.2f}", figure.goal)
    Console().print(table)
    again = {figure.command for figure in figures}
    kept = [each for each in json.loads(RESULTS.read_text()) if each["command"] not in again]
    written = [*kept, *map(asdict, figures)]
    RESULTS.write_text(json.dumps(written, indent=2) + "\n")
    PAGE.write_text(in_step(PAGE.read_text(), written))


def in_step(page: str, results: Iterable[Mapping[str, Any]]) -> str:
    """Return the page with the table of these results between its two marks."""
    before, _, rest = page.partition(MARK)
    after = rest.partition(MARK)[2]
    lines = ["| figure | ours | floor or peer | ratio | goal |", "|---|---:|---:|---:|---|"]
    for each in sorted(results, key=lambda each: (each["command"], each["name"])):
        measured = (_told(each[side], each.get("unit", "s")) for side in ("ours", "floor_or_peer"))
        row = (each["name"], *measured, f"{each['ratio']:.3g}", each["goal"])
        lines.append(f"| {' | '.join(row)} |")
    return f"{before}{MARK}\n" + "\n".join(lines) + f"\n{MARK}{after}"


def _told(value: float, unit: str) -> str:
    return f"{value:,.3g} {unit}" if value < 1_000 else f"{value:,.0f} {unit}"


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
