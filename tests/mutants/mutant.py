"""One deliberate mistake: a change of source text, and the tests that must fail with it."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class StaleMutantError(Exception):
    """The text that a mutant replaces is not in its file exactly once."""


@dataclass(frozen=True)
class Mutant:
    """A mistake in `file`, made by replacing the text `before`, which is there once, by `after`.

    `tests` are pytest node ids, and each of them must fail. A test fails by an assertion, or by
    one of the exceptions named in `raises`; nothing else counts.
    """

    name: str
    wrong: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    raises: tuple[str, ...] = ()
    long: bool = False

    @property
    def module(self) -> str:
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def source(self) -> str:
        """Return the mutated source; raise `StaleMutantError` if the text is not there once."""
        text = (ROOT / self.file).read_text()
        if (found := text.count(self.before)) != 1:
            raise StaleMutantError(f"{self.file} has the text {self.before!r} {found} times")
        if self.before == self.after:
            raise StaleMutantError("the replacement is the text itself")
        mutated = text.replace(self.before, self.after)
        compile(mutated, self.file, "exec")
        return mutated
