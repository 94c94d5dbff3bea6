"""Every module can be the first that a process imports, in spite of cycles of imports.

Importing each module in a process of its own would take minutes. The test follows the import
statements instead, in the order in which Python runs them.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("api", "auditor_client", "openapi", "platform_sim", "privacy")


class Binding(NamedTuple):
    """A statement that binds a name in its module."""

    name: str


class Import(NamedTuple):
    """An import of a module, or of one of its names."""

    module: str
    name: str | None = None


Step = Binding | Import
Program = dict[str, list[Step]]


def steps_of(body: Iterable[ast.stmt]) -> Iterator[Step]:
    """Yield imports and bindings in the order in which they run; functions run later."""
    for statement in body:
        match statement:
            case ast.Import(names):
                yield from (Import(each.name) for each in names)
                yield from (Binding(each.asname or each.name.split(".")[0]) for each in names)
            case ast.ImportFrom(str() as module, names):
                yield from (Import(module, each.name) for each in names)
                yield from (Binding(each.asname or each.name) for each in names)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield Binding(name)
            case ast.ClassDef(name, body=inner):
                yield from (step for step in steps_of(inner) if isinstance(step, Import))
                yield Binding(name)
            case ast.If(test, then, otherwise):
                typing_only = ast.unparse(test).endswith("TYPE_CHECKING")
                yield from steps_of(otherwise if typing_only else [*then, *otherwise])
            case ast.Try(inner, _, otherwise, last):
                yield from steps_of([*inner, *otherwise, *last])
            case ast.With(body=inner):
                yield from steps_of(inner)
            case _:
                found = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
                yield from (Binding(each.id) for each in found if isinstance(each.ctx, ast.Store))


def unbound_names(program: Program, first: str) -> list[str]:
    """Return the names that are imported before they are bound, if `first` is imported first."""
    bound: dict[str, set[str]] = {}
    found: list[str] = []

    def load(module: str) -> None:
        parts = module.split(".")
        for name in (".".join(parts[:end]) for end in range(1, len(parts) + 1)):
            if name in bound or name not in program:
                continue
            bound[name] = set()
            for step in program[name]:
                run(step, name)
            bound[name].add("*")  # loaded

    def run(step: Step, where: str) -> None:
        if isinstance(step, Binding):
            bound[where].add(step.name)
            return
        load(step.module)
        if step.name is None:
            return
        load(f"{step.module}.{step.name}")
        is_bound = bound.get(step.module, {"*"}) & {"*", step.name, "__getattr__"}
        if not is_bound and f"{step.module}.{step.name}" not in program:
            found.append(f"{where} imports {step.name} of {step.module} before it is bound")

    load(first)
    return found


@pytest.fixture(scope="module")
def program() -> Program:
    files = [file for package in OURS for file in (ROOT / package).rglob("*.py")]
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): list(
            steps_of(ast.parse(file.read_text()).body)
        )
        for file in files
    }


def test_every_module_can_be_imported_first(program: Program) -> None:
    assert len(program) > 500
    assert [name for first in program for name in unbound_names(program, first)] == []


def test_a_cycle_is_found_where_it_starts() -> None:
    """A package imports a name of its user, and the user a module of the package."""
    program: Program = {
        "kind": [Import("block", "explore")],
        "kind.people": [Binding("Draw")],
        "block": [Import("kind.people", "Draw"), Binding("explore")],
    }
    assert unbound_names(program, "kind") == unbound_names(program, "kind.people") == []
    assert unbound_names(program, "block") == [
        "kind imports explore of block before it is bound",
    ]
