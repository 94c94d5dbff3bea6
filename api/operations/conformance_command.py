"""Subject of `platform-auditor conformance`: the platform, and identifiers of test accounts."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from api.app.compose import make_platform
from api.platforms.conformance.subject import KINDS, Subject, array_of, subject_of
from api.platforms.http import HttpPlatform
from api.platforms.http.client import AdapterClientOptions


@contextmanager
def open_subject(
    target: str, options: Mapping[str, Any], identifiers: Path | None, *, explore: bool
) -> Iterator[Subject]:
    """Open a platform by its address, or by its name as in the settings."""
    known = read_identifiers(identifiers) if identifiers else {}
    if "://" not in target:
        yield subject_of(make_platform(target, options), known, explore=explore)
        return
    connection = AdapterClientOptions(url=target, **options)
    limits = {"call_seconds": connection.call_seconds, "person_seconds": connection.person_seconds}
    with closing(HttpPlatform.at(target, **options)) as platform:
        yield subject_of(platform, known, explore=explore, connection=connection, **limits)


def read_identifiers(path: Path) -> dict[str, pa.Array]:
    """Return test accounts by the kind of their identifiers."""
    types = {"kind": pa.string(), "identifier": pa.string()}
    convert = pyarrow.csv.ConvertOptions(column_types=types)
    rows = pyarrow.csv.read_csv(path, convert_options=convert)
    if set(types) - set(rows.column_names):
        raise ValueError(f"{path.name} must have the header kind,identifier.")
    found: dict[str, list[Any]] = {}
    for kind, identifier in zip(*(rows[name].to_pylist() for name in types), strict=True):
        if kind not in KINDS:
            raise ValueError(f"{path.name}: kind must be one of {', '.join(KINDS)}.")
        found.setdefault(kind, []).append(
            identifier if kind == "username" else bytes.fromhex(identifier)
        )
    return {kind: array_of(kind, some) for kind, some in found.items()}
