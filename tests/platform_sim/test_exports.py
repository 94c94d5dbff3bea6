import ast
from pathlib import Path

import platform_sim

OURS = {"api", "auditor_client", "openapi", "privacy", "bench", "tests"}


def test_public_names() -> None:
    assert sorted(platform_sim.__all__) == [
        "Bias",
        "Exploration",
        "Feed",
        "Impressions",
        "Opportunities",
        "Prejudice",
        "SOFTWARE_JOB",
        "SimulatedPlatform",
        "World",
        "biased_platform",
        "fair_platform",
        "recruit",
        "true_gap",
    ]


def test_imports_none_of_our_other_packages() -> None:
    for path in Path(platform_sim.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.split(".")[0] for name in names} & OURS, path.name
