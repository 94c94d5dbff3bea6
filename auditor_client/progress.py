"""Progress bars and words on a terminal or in a notebook; silence elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)


class Bar:
    """One line that moves."""

    def __init__(self, progress: Progress, words: str, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task(words, total=total)

    def advance(self, steps: int) -> None:
        self._progress.advance(self._task, steps)

    def say(self, words: str) -> None:
        self._progress.update(self._task, description=words)


@contextmanager
def bar(words: str, total: int | None = None, *, show: bool = True) -> Iterator[Bar]:
    """A bar with a total, or a spinner without one."""
    console = Console(stderr=True)
    quiet = not show or not (console.is_terminal or console.is_jupyter)
    columns = [BarColumn(), MofNCompleteColumn()] if total is not None else [SpinnerColumn()]
    text = TextColumn("{task.description}", markup=False)
    with Progress(text, *columns, TimeElapsedColumn(), console=console, disable=quiet) as progress:
        yield Bar(progress, words, total)


def tell(words: str, *, show: bool = True) -> None:
    """A line that stays."""
    console = Console(stderr=True)
    if show and (console.is_terminal or console.is_jupyter):
        console.print(words, markup=False)
