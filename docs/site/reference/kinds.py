"""Page of the kinds of audit, from their contracts."""

from collections.abc import Iterator

from docs.site.reference.http_api import describe_type
from docs.site.reference.tables import table
from openapi.kinds.contract import KindContract
from openapi.kinds.registry import CONTRACTS

_COMMON = {"kind", "audience_id", "mandate_id"}


def page() -> str:
    """Return the page."""
    lines = [
        "# Kinds of audit",
        "",
        "[Which audit answers my question?](../explanation/which-audit.md) leads from a question to"
        " a kind. Every request also has `audience_id`, and `mandate_id` where several mandates"
        " could pay.",
    ]
    for contract in CONTRACTS.values():
        lines += _kind(contract)
    return "\n".join(lines)


def _kind(contract: KindContract) -> Iterator[str]:
    yield from (f"## {contract.title} (`{contract.name}`)", "", contract.question, "")
    yield f"It reads {contract.reads}."
    schema = contract.request.model_json_schema(ref_template="#/components/schemas/{model}")
    required = set(schema.get("required", ()))
    rows = [
        (f"`{name}`", describe_type(of, "http-api.md"), default, of.get("description", ""))
        for name, of in schema["properties"].items()
        if name not in _COMMON
        for default in [_default(name, of, required)]
    ]
    yield from table(("field", "type", "default", "meaning"), rows)


def _default(name: str, of: dict[str, object], required: set[str]) -> str:
    if name in required:
        return "**required**"
    default = of.get("default")
    return "" if default is None else f"`{default}`"
