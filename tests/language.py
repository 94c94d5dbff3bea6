"""`python -m tests.language`: check the conventions of our prose (CONTRIBUTING, "Prose").

A docstring begins with an imperative or a noun, never with a clause ("What …", "Whoever …"), and
phrases that readers had to translate do not come back. Migrations keep their texts.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("api", "auditor_client", "openapi", "platform_sim", "privacy")
_CLAUSE = re.compile(r"(What|Who|Whose|Whoever|Whom|Of|So|That|Where|How)\b")
_PHRASE = re.compile(
    r"\b(unless told|so many|so much|whoever|beside|for good|at last|the books|untold)\b",
    re.IGNORECASE,
)
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def violations() -> Iterator[str]:
    """Yield each violation as a place and the words."""
    for package in PRODUCT:
        for file in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in file.parts:
                yield from _of(file)


def _of(file: Path) -> Iterator[str]:
    place, text = file.relative_to(ROOT), file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and _CLAUSE.match(ast.get_docstring(node) or ""):
            first = (ast.get_docstring(node) or "").splitlines()[0]
            yield f"{place}:{getattr(node, 'lineno', 1)}: begins with a clause: {first}"
    for number, line in enumerate(text.splitlines(), 1):
        for phrase in _PHRASE.findall(line):
            yield f"{place}:{number}: {phrase!r}: {line.strip()}"


def main() -> int:
    found = list(violations())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
