"""Operations of the OpenAPI document, with the scope each declares and the identifiers it takes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from openapi.wire_model import Identifier
from tests.contract.test_document import DOCUMENT
from tests.contract.test_document import OPERATIONS as DOCUMENTED

# The pattern that every identifier of a resource has.
PATTERN: str = get_args(Identifier)[1].metadata[-1].pattern
IDENTIFIER = re.compile(PATTERN)
# Parameters that name no object. A parameter that is not here must name one.
NOT_IDENTIFIERS = {
    *("limit", "label", "part", "format", "since", "until", "state", "kind", "name"),
    # Sizes of signed heads, which are public.
    *("old", "new", "seen"),
}
# Numbers in these parameters are positions in the ledger; texts are identifiers.
POSITIONS = {"cursor", "after"}


@dataclass(frozen=True)
class Operation:
    """One operation. `scope` is "" for every role, and None for no token at all."""

    name: str
    method: str
    path: str
    scope: str | None
    signed: bool
    media_types: tuple[str, ...]
    identifiers: frozenset[str]


def _read(method: str, path: str, documented: dict[str, Any]) -> Operation:
    parameters = documented.get("parameters", [])
    body = documented.get("requestBody", {}).get("content", {})
    return Operation(
        name=documented["operationId"],
        method=method.upper(),
        path=path,
        scope=_scope(documented),
        signed=any(each["name"] == "Statement-Signature" for each in parameters),
        media_types=tuple(body),
        identifiers=frozenset(
            {each["name"] for each in parameters if _is_identifier(each)}
            | {name for each in body.values() for name in _named(each["schema"], frozenset())}
        ),
    )


def _scope(documented: dict[str, Any]) -> str | None:
    needs = documented.get("security")
    if needs is None:
        return None
    [need] = needs
    [*scopes] = need["OAuth2"]
    return scopes[0] if scopes else ""


def _is_identifier(parameter: dict[str, Any]) -> bool:
    name, schema = parameter["name"], parameter["schema"]
    is_number = any(each.get("type") == "integer" for each in (schema, *schema.get("anyOf", ())))
    is_position = name in POSITIONS and is_number
    return parameter["in"] in ("path", "query") and not is_position and name not in NOT_IDENTIFIERS


def _named(schema: Any, within: frozenset[str]) -> Iterator[str]:
    """Yield the name of every field of a body that holds identifiers."""
    if isinstance(schema, list):
        for each in schema:
            yield from _named(each, within)
        return
    if not isinstance(schema, dict):
        return
    component = schema.get("$ref", "").rpartition("/")[2]
    if component and component not in within:
        yield from _named(DOCUMENT["components"]["schemas"][component], within | {component})
    for name, field in schema.get("properties", {}).items():
        if name.endswith(("_id", "_ids")) or _holds_identifiers(field):
            yield name
        yield from _named(field, within)
    for part in ("oneOf", "anyOf", "allOf", "items", "additionalProperties"):
        yield from _named(schema.get(part), within)


def _holds_identifiers(field: dict[str, Any]) -> bool:
    """Return whether this field, one of its alternatives or its items is an identifier."""
    inner = [*field.get("anyOf", ()), *field.get("oneOf", ())]
    if isinstance(field.get("items"), dict):
        inner.append(field["items"])
    return field.get("pattern") == PATTERN or any(_holds_identifiers(each) for each in inner)


OPERATIONS = [_read(*documented) for documented in DOCUMENTED]
