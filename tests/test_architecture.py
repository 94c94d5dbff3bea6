"""Import rules that `lint-imports` cannot state: docs/explanation/principles.md and ADR 0001."""

import grimp
import pytest

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
    standard = {
        "base64", "collections", "dataclasses", "datetime", "decimal", "fractions", "math",
        "secrets", "typing",
    }  # fmt: skip
    assert outside - standard == {"pydantic"}


def test_only_the_composition_names_the_simulated_platform(graph: grimp.ImportGraph) -> None:
    importers = {
        module
        for name in graph.find_descendants("platform_sim") | {"platform_sim"}
        for module in graph.find_modules_that_directly_import(name)
        if module.startswith("api")
    }
    assert importers == {"api.app.compose"}
