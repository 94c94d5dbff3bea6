"""Requests of the matrix: one valid call per operation, and the same call about other objects."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.contract.authorisation.operations import IDENTIFIER, Operation

# Where a value stands: in the path, in the query or in the body, and under which names there.
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Call:
    """One request, before it is signed."""

    operation: Operation
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def url(self) -> str:
        return self.operation.path.format(**self.path)

    @property
    def media_type(self) -> str | None:
        types = self.operation.media_types
        return "text/csv" if "text/csv" in types else next(iter(types), None)

    def places(self) -> Iterator[tuple[Place, str]]:
        """Yield every place at which an object is named, with its identifier."""
        for where, values in (("path", self.path), ("query", self.query), ("body", self.body)):
            for place, value in _values(values):
                if IDENTIFIER.match(str(value)) or place[-1:] == ("number",):
                    yield (where, *place), str(value)

    def naming(self, place: Place, identifier: str) -> "Call":
        """Return the same call with another identifier at this place."""
        where, *steps = place
        changed = json.loads(json.dumps(getattr(self, str(where))))
        within = changed
        for step in steps[:-1]:
            within = within[step]
        within[steps[-1]] = identifier
        return replace(self, **{str(where): changed})

    def names(self) -> set[str]:
        """Return the names of the parameters and fields that hold identifiers."""
        found = [place for place, _ in self.places()]
        return {next(str(step) for step in reversed(p) if isinstance(step, str)) for p in found}


def _values(node: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _values(value, (*at, name))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _values(value, (*at, number))
    elif isinstance(node, str):
        yield at, node


def kind_of(identifier: str) -> str:
    """Return the kind of object that an identifier names; numbers name entries of the ledger."""
    return identifier.partition("_")[0] if "_" in identifier else "entry"


def ghost_of(identifier: str) -> str:
    """Return an identifier of nothing, which sorts and prints like this one."""
    if kind_of(identifier) == "entry":
        return str(10**12)
    return identifier[:-1] + ("0" if identifier[-1] != "0" else "1")
