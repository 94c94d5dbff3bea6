"""Usage errors in plain words: the admissible values, in place of the validation library's text."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError
from typer import BadParameter
from typer.core import TyperGroup

from openapi.complaints import complaints


class PlainUsage(TyperGroup):
    """Commands whose errors about options and arguments name the admissible values."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _in_plain_words():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _in_plain_words():
            return super().invoke(ctx)


@contextmanager
def _in_plain_words() -> Iterator[None]:
    try:
        yield
    except BadParameter as error:
        if isinstance(error.__cause__, ValidationError):
            error.message = "; ".join(complaints(error.__cause__)).rstrip(".") + "."
        raise
