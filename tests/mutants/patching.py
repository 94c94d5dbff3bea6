"""Import hook that gives one module another source text, in this process alone.

The file stays as it is, and no byte code of the mutated module is written.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from tests.mutants.mutant import Mutant


class _Loader(SourceFileLoader):
    """Loads the mutated text in place of what the file has."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        code = self.source_to_code(self._source.encode(), self.path)
        assert isinstance(code, CodeType)
        return code


class MutatingFinder(MetaPathFinder):
    """Finds the module of one mutant, and leaves all others to the finders after it."""

    def __init__(self, mutant: Mutant) -> None:
        self.module = mutant.module
        self.loaded = False
        self._source = mutant.source()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, self._source)
        self.loaded = True
        return spec

    def install(self) -> None:
        """Mutate the module for every import from now on; it must not be imported yet."""
        if self.module in sys.modules:
            raise RuntimeError(f"{self.module} was imported before it was mutated")
        sys.meta_path.insert(0, self)
