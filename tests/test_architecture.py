"""Import rules that `lint-imports` cannot state: docs/explanation/principles.md and ADR 0001."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from api.kernel import errors as raised
from auditor_client import errors as received
from openapi.kinds.registry import BUILT_IN

ROOT = Path(__file__).parents[1]
OURS = ("api", "auditor_client", "openapi", "platform_sim", "privacy")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*OURS, include_external_packages=True, cache_dir=None)


def test_only_the_waist_imports_opendp(graph: grimp.ImportGraph) -> None:
    importers = graph.find_modules_that_directly_import("opendp")
    assert importers
    assert all(module.startswith("privacy.waist") for module in importers)


def test_the_rest_of_privacy_does_not_reach_the_waist(graph: grimp.ImportGraph) -> None:
    rest = {
        module
        for module in graph.find_descendants("privacy")
        if not module.startswith("privacy.waist")
    }
    assert rest
    reaching = {module for module in rest if graph.chain_exists(module, "privacy.waist")}
    assert reaching == set()


def test_the_contract_needs_pydantic_alone(graph: grimp.ImportGraph) -> None:
    modules = graph.find_descendants("openapi") | {"openapi"}
    imported = {name for m in modules for name in graph.find_modules_directly_imported_by(m)}
    outside = {name.partition(".")[0] for name in imported} - {"openapi"}
    # Its core is a distribution of its own.
    assert outside - sys.stdlib_module_names == {"pydantic", "pydantic_core"}


def test_only_the_composition_names_the_simulated_platform(graph: grimp.ImportGraph) -> None:
    importers = {
        module
        for name in graph.find_descendants("platform_sim") | {"platform_sim"}
        for module in graph.find_modules_that_directly_import(name)
        if module.startswith("api")
    }
    assert importers == {"api.app.compose"}


def test_of_the_service_the_console_alone_imports_the_sdk(graph: grimp.ImportGraph) -> None:
    importers = {
        module
        for name in graph.find_descendants("auditor_client") | {"auditor_client"}
        for module in graph.find_modules_that_directly_import(name)
        if module.startswith("api.")
    }
    assert importers
    assert all(module.startswith("api.console.") for module in importers)


def test_the_exchange_of_messages_alone_names_a_kind(graph: grimp.ImportGraph) -> None:
    """Queue, submission and health read the registry, in which kinds of packages are too."""
    kinds = {f"api.kinds.{contract.module}" for contract in BUILT_IN.values()}
    importers = {
        module
        for kind in kinds
        for name in graph.find_descendants(kind) | {kind}
        for module in graph.find_modules_that_directly_import(name)
        if module.startswith("api.") and not module.startswith("api.kinds.")
    }
    assert importers
    assert all(module.startswith("api.two_party.") for module in importers)


def test_at_most_four_hand_written_files_name_a_kind() -> None:
    """Contract, plan of the ledger, truth of the simulation, and one more."""
    texts = [text for package in OURS for text in _hand_written(package)]
    named = {kind: sum(f'"{kind}"' in text for text in texts) for kind in BUILT_IN}
    assert {kind: files for kind, files in named.items() if not 0 < files <= 4} == {}


def _hand_written(package: str) -> Iterator[str]:
    for path in (ROOT / package).rglob("*.py"):
        text = path.read_text()
        if "generated" not in text.partition("\n")[0].lower():
            yield text


def _classes() -> Iterator[tuple[str, str]]:
    """Yield the name of every class, and the module that defines it."""
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    yield node.name, module.removesuffix(".__init__")


# The SDK's entry point and the wire model of an organisation: both names are public.
SHARED_NAMES = {"Auditor": {"auditor_client.auditor", "openapi.resources.mandates"}}


def test_no_two_classes_share_a_name() -> None:
    """One error may be defined twice: as the service raises it, and as the SDK receives it."""
    places = defaultdict(list)
    for name, module in _classes():
        places[name].append(module)
    shared = {name: set(modules) for name, modules in places.items() if len(modules) > 1}
    errors = {
        name for name, modules in shared.items() if modules == {raised.__name__, received.__name__}
    }
    for name in errors:
        assert received.BY_CODE[getattr(raised, name).code] is getattr(received, name)
    assert {name: modules for name, modules in shared.items() if name not in errors} == SHARED_NAMES
