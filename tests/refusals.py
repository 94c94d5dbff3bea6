"""Refusals by type and case, which stay when their sentences change."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

import pytest

from api.kernel.errors import ApiError
from auditor_client.errors import ProblemError
from openapi.problems import Problem

Refusal = TypeVar("Refusal", bound=Exception)


@contextmanager
def refuses(
    error: type[Refusal] | tuple[type[Refusal], ...], case: str, *names: object
) -> Iterator[pytest.ExceptionInfo[Refusal]]:
    """Expect an error of this type and `case`, whose message names each of these values.

    A problem over HTTP has a code alone: its case is the one that the service in this process had.
    """
    with _served() as served, pytest.raises(error) as found:
        yield found
    was = (
        served[-1:]
        if isinstance(found.value, ProblemError)
        else [getattr(found.value, "case", None)]
    )
    assert was == [case], repr(found.value)
    for name in names:
        assert re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", str(found.value)), name


@contextmanager
def _served() -> Iterator[list[str | None]]:
    """Note the case of each error that the service answers with."""
    cases: list[str | None] = []
    make = ApiError.problem

    def note(self: ApiError, instance: str | None = None) -> Problem:
        cases.append(self.case)
        return make(self, instance)

    with patch.object(ApiError, "problem", note):
        yield cases
