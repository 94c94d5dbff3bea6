"""Parameters of a kind of audit, derived from its request: for commands, studies, forms and SDK."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from openapi.kinds.inputs import UNSET, Among, Input, Over, input_of
from openapi.kinds.request_fields import EitherNoise

Schema = Mapping[str, Any]
# Order of parameters for people; all others follow in the order of the request.
_THINGS = ("content", "audience", "log", "contents", "audit")
_PLAIN = {
    "integer": "integer",
    "number": "amount",
    "boolean": "flag",
    "string": "text",
    "array": "words",
}


@dataclass(frozen=True)
class RequestParameter:
    """One parameter of a request, as people give it.

    `role` is that of its `Input`, or follows from its type: "integer", "amount" (an exact decimal),
    "flag", "text", "words", "integers" or "choice". `default` is None if the service or the kind
    chooses, and UNSET if there is no default.
    """

    name: str
    field: str
    title: str
    help: str
    role: str
    default: Any = UNSET
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    among: Among | None = None
    over: Over | None = None
    other: str | None = None
    of: str | None = None
    levels: bool = False
    main: bool = False

    @property
    def required(self) -> bool:
        return self.default is UNSET


@cache
def parameters_of(request: type[BaseModel]) -> tuple[RequestParameter, ...]:
    """Return the parameters of such a request, with its subjects first."""
    properties: Schema = request.model_json_schema()["properties"]
    found = [
        _parameter(name, field, properties[name], request)
        for name, field in request.model_fields.items()
        if name != "kind" and input_of(field).role != "set"
    ]
    order = {role: number for number, role in enumerate(_THINGS)}
    return tuple(sorted(found, key=lambda each: order.get(each.role, len(order))))


def _parameter(
    name: str, field: FieldInfo, schema: Schema, request: type[BaseModel]
) -> RequestParameter:
    said, plain = input_of(field), plain_schema(schema)
    default = _default(name, field, said, request)
    return RequestParameter(
        name=said.name or name,
        field=name,
        title=field.title or name.replace("_", " ").capitalize(),
        help=field.description or "",
        role=said.role or _role(plain),
        default=default,
        choices=tuple(plain.get("enum", ())),
        least=plain.get("minimum", plain.get("exclusiveMinimum")),
        most=plain.get("maximum", plain.get("exclusiveMaximum")),
        among=said.among,
        over=said.over,
        other=said.field,
        of=said.of,
        levels=said.role == "bins" and "anyOf" in schema,
        main=said.main or name == "epsilon" or said.role == "bins" or field.is_required(),
    )


def _default(name: str, field: FieldInfo, said: Input, request: type[BaseModel]) -> Any:
    """Return the default value."""
    if said.default is not UNSET:
        return said.default
    if name == "epsilon" and issubclass(request, EitherNoise):
        return None  # 1 for Laplace noise, none for Gaussian noise
    return UNSET if field.is_required() else field.get_default(call_default_factory=True)


def _role(schema: Schema) -> str:
    if "enum" in schema or "const" in schema:
        return "choice"
    return "integers" if "prefixItems" in schema else _PLAIN.get(schema.get("type", ""), "text")


def plain_schema(schema: Schema) -> Schema:
    """Return the first of the types that a field may have, other than null."""
    if "anyOf" not in schema:
        return schema
    return plain_schema(next(each for each in schema["anyOf"] if each.get("type") != "null"))
