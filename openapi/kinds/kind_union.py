"""Union of the requests, or of the releases, of all registered kinds, distinguished by `kind`.

The union grows with the registry, which is read at each validation: packages add kinds after the
import of modules that use the union.
"""

from collections.abc import Mapping
from functools import lru_cache
from operator import or_
from typing import Annotated, Any, Generic, Literal, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema, from_json

from openapi.kinds.registry import CONTRACTS
from openapi.kinds.request_fields import RequestFields

Member = TypeVar("Member")


class OtherRequest(RequestFields):
    """Recorded request of a kind that is not registered here; its fields are carried unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str


class KindUnion(Generic[Member]):
    """Validator of the union, and its annotation in messages.

    `recorded`: values that were accepted earlier. A value of a kind that is not registered here
    becomes an `OtherRequest`, so that a list with it can still be read.
    """

    def __init__(self, member: Literal["request", "release"], *, recorded: bool = False) -> None:
        self._member, self._recorded = member, recorded

    @property
    def _adapter(self) -> TypeAdapter[Any]:
        return _adapter(tuple(getattr(each, self._member) for each in CONTRACTS.values()))

    def validate_python(self, value: Any) -> Member:
        """Return a value as a message; raise `ValidationError` if it has no registered kind."""
        try:
            return cast("Member", self._adapter.validate_python(value))
        except ValidationError as error:
            return self._other(value, error)

    def validate_json(self, text: str | bytes) -> Member:
        """Return a JSON text as a message."""
        try:
            return cast("Member", self._adapter.validate_json(text))
        except ValidationError as error:
            if error.errors()[0]["type"] == "json_invalid":
                raise
            return self._other(from_json(text), error)

    def json_schema(self) -> dict[str, Any]:
        """Return the current JSON schema of the union."""
        return self._adapter.json_schema()

    def _other(self, value: Any, error: ValidationError) -> Member:
        is_unknown = error.errors()[0]["type"] == "union_tag_invalid"
        if not (self._recorded and is_unknown and isinstance(value, Mapping)):
            raise error
        return cast("Member", OtherRequest.model_validate(value))

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.validate_python)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(self._adapter.core_schema)


@lru_cache(maxsize=8)
def _adapter(models: tuple[type[BaseModel], ...]) -> TypeAdapter[Any]:
    union: Any = models[0]
    for model in models[1:]:
        union = or_(union, model)
    return TypeAdapter(Annotated[union, Field(discriminator="kind")])
