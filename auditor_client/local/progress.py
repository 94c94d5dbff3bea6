"""Progress on a terminal or in a notebook; elsewhere lines on stderr, if the program requests them.

A command requests lines with `lines_when_piped`: one for each change of state.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

_LINES: ContextVar[bool] = ContextVar("lines_when_piped", default=False)
_SHOWN: ContextVar["Bar | None"] = ContextVar("shown_bar", default=None)


class Bar:
    """One updated line; or several lines, if the output cannot be updated."""

    def __init__(self, progress: Progress, words: str, total: int | None, *, lines: bool) -> None:
        self._progress = progress
        self._task = progress.add_task(words, total=total)
        self._lines = lines
        self._said = ""
        self.say(words)

    def advance(self, steps: int) -> None:
        self._progress.advance(self._task, steps)

    def say(self, words: str, detail: str = "") -> None:
        """Show the awaited event. `detail` changes often: only updated lines show it."""
        self._progress.update(self._task, description=f"{words}{detail}")
        if self._lines and words != self._said:
            print(words, file=sys.stderr, flush=True)
        self._said = words

    def tell(self, words: str) -> None:
        """Print a permanent line above the updated line."""
        if self._lines:
            print(words, file=sys.stderr, flush=True)
        else:
            self._progress.console.print(words, markup=False, soft_wrap=True)


@contextmanager
def lines_when_piped() -> Iterator[None]:
    """Print progress as lines if stderr is not a terminal, as commands do."""
    before = _LINES.set(True)
    try:
        yield
    finally:
        _LINES.reset(before)


@contextmanager
def bar(words: str, total: int | None = None, *, show: bool = True) -> Iterator[Bar]:
    """Show a bar with a total, or a spinner without one."""
    console = Console(stderr=True)
    moves = console.is_terminal or console.is_jupyter
    columns = [BarColumn(), MofNCompleteColumn()] if total is not None else [SpinnerColumn()]
    text = TextColumn("{task.description}", markup=False)
    disable = not (show and moves)
    with Progress(text, *columns, TimeElapsedColumn(), console=console, disable=disable) as shown:
        made = Bar(shown, words, total, lines=show and not moves and _LINES.get())
        before = _SHOWN.set(made if show else None)
        try:
            yield made
        finally:
            _SHOWN.reset(before)


def tell(words: str, *, show: bool = True) -> None:
    """Print a permanent line."""
    if not show:
        return
    if (shown := _SHOWN.get()) is not None:
        shown.tell(words)
        return
    console = Console(stderr=True, soft_wrap=True)
    if console.is_terminal or console.is_jupyter:
        console.print(words, markup=False)
    elif _LINES.get():
        print(words, file=sys.stderr, flush=True)
