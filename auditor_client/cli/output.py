"""Printing: a table for people, JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]

# Identifiers are at most this long. Longer words are digests and the like, which may be broken.
_LONG_WORD = 40
# Spaces that a table adds to each column.
_BORDER = 3


def show_rows(rows: Sequence[Row], columns: Sequence[str], *, as_json: bool) -> None:
    """Print some columns of many rows; all columns in JSON.

    Where the terminal is too narrow for a table, print one block of lines per row.
    """
    if as_json:
        print_json(list(rows))
        return
    if not rows:
        Console().print("Nothing yet.")
        return
    cells = [[printable(row.get(column)) for column in columns] for row in rows]
    heads = [column.replace("_", " ") for column in columns]
    lines = [heads, *([cell.plain for cell in line] for line in cells)]
    widths = column_widths(list(zip(*lines, strict=True)), Console().width)
    if widths is None:
        for number, row in enumerate(rows):
            if number:
                print()
            show_row({column: row.get(column) for column in columns}, as_json=False)
        return
    table = Table(box=box.SIMPLE_HEAD)
    for head, width in zip(heads, widths, strict=True):
        table.add_column(head, overflow="fold", width=width)
    for line in cells:
        table.add_row(*line)
    Console().print(table)


def column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return widths at which no column breaks a word, or None if they do not fit.

    The first line of a column is its heading. People copy identifiers, so those in a column `id`
    are never broken. Elsewhere digests and other long words may be.
    """
    longest = [max(map(len, column)) for column in columns]
    least = [
        width if column[0] == "id" else min(_longest_word(column), _LONG_WORD)
        for column, width in zip(columns, longest, strict=True)
    ]
    spare = room - sum(least) - _BORDER * len(columns) - 1
    if spare < 0:
        return None
    widths = list(least)
    for index in sorted(range(len(columns)), key=lambda each: longest[each] - least[each]):
        more = min(spare, longest[index] - least[index])
        widths[index] += more
        spare -= more
    return widths


def _longest_word(cells: Sequence[str]) -> int:
    return max((len(word) for cell in cells for word in cell.split()), default=0)


def show_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of an answer: row names on the left, numbers aligned right."""
    table = Table(box=box.SIMPLE_HEAD)
    for index, head in enumerate(heads):
        column = [row[index] for row in rows]
        right = index > 0 and all(_is_number(cell) for cell in column)
        table.add_column(
            printable(head), justify="right" if right else "left", overflow="fold", no_wrap=right
        )
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    # As a title the caption would be broken to the width of the table.
    console = Console()
    console.print(printable(caption), style="italic")
    console.print(table)


def _is_number(cell: str) -> bool:
    return not any(letter.isalpha() for letter in cell)


def show_row(row: Row, *, as_json: bool) -> None:
    """Print one object, with one line per field."""
    if as_json:
        print_json(row)
        return
    table = Table(show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(name.replace("_", " "), printable(value))
    Console().print(table)


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2, default=_as_json))


def _as_json(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def printable(value: Any) -> Text:
    """Return text without markup and without terminal control characters."""
    words = _words(value)
    return Text("".join(letter if letter.isprintable() else "\ufffd" for letter in words))


def _words(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_nested(item)}" for name, item in value.items())
    return "" if value is None else str(value)


def _nested(value: Any) -> str:
    return f"({_words(value)})" if isinstance(value, Mapping) else _words(value)
