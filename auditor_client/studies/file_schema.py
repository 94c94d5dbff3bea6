"""Base of all parts of a study file, with strict types and hints about unknown keys."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from auditor_client.transport.decimals import to_decimal

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class StudyPart(BaseModel):
    """Mapping in the file: no value is converted, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, given: Any) -> Any:
        strangers = [key for key in given if key not in cls.model_fields] if _maps(given) else []
        if strangers:
            raise ValueError("; ".join(unknown("key", key, cls.model_fields) for key in strangers))
        return given


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Return the error text for an unknown name, with the likely intended one."""
    there = list(known)
    near = get_close_matches(str(name), there, n=1)
    meant = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(there) or 'none'}"
    return f"there is no {what} {name!r}; {meant}"


def _maps(given: Any) -> bool:
    return isinstance(given, dict)


def _is_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            "a name has up to 40 lower-case letters, digits, - and _, because it also names files"
        )
    return text


def _hex(text: Any) -> Any:
    # YAML reads a text of digits as a number, without its leading zeros.
    if isinstance(text, int):
        raise ValueError("put the digest in quotes")  # noqa: TRY004  (pydantic takes ValueError)
    return text


def _typed(value: Any) -> str | None:
    return None if value is None else str(to_decimal(value, "the number"))


Name = Annotated[str, AfterValidator(_is_name)]
Words = Annotated[str, Field(min_length=1, max_length=200)]
Sha256 = Annotated[str, BeforeValidator(_hex), Field(pattern=r"^[0-9a-f]{64}$")]
# Numbers as they were typed, never rounded: 0.1 is one tenth.
Exact = Annotated[str, BeforeValidator(_typed)]
MaybeExact = Annotated[str | None, BeforeValidator(_typed)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Edge = Annotated[float, Field(allow_inf_nan=False)]


class PinnedFile(StudyPart):
    """File next to the study, with its digest: the study cannot be run on other data."""

    path: Words
    sha256: Sha256
