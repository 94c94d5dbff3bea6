"""Page of the HTTP API, from the exported contract."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site.reference.tables import cell

METHODS = ("get", "post", "put", "patch", "delete", "head")


def page(file: Path) -> str:
    """Return the page."""
    document = json.loads(file.read_text())
    return "\n".join(_page(document)) + "\n"


def _page(document: dict[str, Any]) -> Iterator[str]:
    yield "# The HTTP API"
    yield from ("", document["info"].get("description", ""), "")
    yield "Made from `openapi/openapi.json`, which every running service serves too."
    for tag, operations in _by_tag(document).items():
        yield from ("", f"## {tag[:1].upper()}{tag[1:]}")
        for method, path, operation in operations:
            yield from _operation(method, path, operation)
    yield from ("", "## Models")
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield from _model(name, schema)


def _by_tag(document: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    found: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                tag = item[method].get("tags", ["other"])[0]
                found.setdefault(tag, []).append((method, path, item[method]))
    return found


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### `{method.upper()} {path}`", "")
    yield operation.get("description") or operation.get("summary", "")
    if parameters := operation.get("parameters"):
        yield from ("", "| parameter | in | type | |", "|---|---|---|---|")
        for each in parameters:
            needed = "needed" if each.get("required") else ""
            kind = describe_type(each["schema"])
            yield f"| `{each['name']}` | {each['in']} | {kind} | {needed} |"
    yield from _exchanged(operation)


def _exchanged(operation: dict[str, Any]) -> Iterator[str]:
    """Yield what is sent, and what comes back by status."""
    if body := operation.get("requestBody"):
        yield from ("", "Body: " + _content(body))
    yield from ("", "| status | answer |", "|---|---|")
    for status, response in operation["responses"].items():
        yield f"| {status} | {cell(response.get('description', ''))} {_content(response)} |"


def _content(node: dict[str, Any]) -> str:
    kinds = node.get("content", {})
    return ", ".join(
        f"{describe_type(one.get('schema', {}), '')} (`{kind}`)" for kind, one in kinds.items()
    )


def _model(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### {name}", "", schema.get("description", ""))
    if not schema.get("properties"):
        yield from ("", describe_type(schema))
        return
    required = set(schema.get("required", ()))
    yield from ("", "| member | type | |", "|---|---|---|")
    for member, of in schema["properties"].items():
        needed = "" if member in required else "may be left out. "
        meaning = needed + cell(of.get("description", ""))
        yield f"| `{member}` | {describe_type(of)} | {meaning} |"


def describe_type(schema: dict[str, Any], place: str = "") -> str:
    """Return a schema in a few words, with links to the models at `place`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({place}#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(describe_type(one, place) for one in schema[several])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"`{value}`" for value in values)
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}), place)}"
    return str(schema.get("format") or schema.get("type") or "anything")
