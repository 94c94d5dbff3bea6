"""Every option of every kind, searched in parallel, in a fixed order."""

import gc
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from api.operations.sensitivity.families import CI, LONG
from tests.privacy_audit.parts import Outcome
from tests.privacy_audit.sensitivity.coverage import gaps
from tests.privacy_audit.sensitivity.kinds import GENERATORS
from tests.privacy_audit.sensitivity.options import Option
from tests.privacy_audit.sensitivity.report import HEADER, rows, summary
from tests.privacy_audit.sensitivity.search import Result, search


def run(*, long: bool) -> Iterator[str | Outcome]:
    """Search all options; yield the rows of each, then the outcome.

    A kind, or a field of a request, that no option covers is a violation.
    """
    missing = gaps(options(long=long))
    yield from (f"VIOLATED: {gap}" for gap in missing)
    yield HEADER
    results: list[Result] = []
    with ProcessPoolExecutor(os.cpu_count(), initializer=gc.freeze) as pool:
        searches = [pool.submit(_searched, at, long) for at in range(len(options(long=long)))]
        for each in searches:
            results.append(each.result())
            yield from rows(results[-1])
    violations = len(missing) + sum(result.violated for result in results)
    yield Outcome(summary(results), violations)


@cache
def options(*, long: bool) -> tuple[Option, ...]:
    """All options of all kinds, in order."""
    size = LONG if long else CI
    return tuple(option for generate in GENERATORS.values() for option in generate(size))


def _searched(at: int, long: bool) -> Result:
    # The operator is warned of people without a place; here that is what is tried.
    logging.getLogger("api.two_party.candidates").setLevel(logging.ERROR)
    return search(options(long=long)[at], LONG if long else CI)
