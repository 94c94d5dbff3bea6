"""Models of a study's audits, one per kind, derived from the contracts of kinds.

Names of contents, audiences and earlier audits are those of the study. The digest of a study fixes
its registered requests, so the fields of a model and their defaults must not change.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union

from pydantic import Field, create_model, model_validator

from auditor_client.kinds.auditor_kind import AuditorKind
from auditor_client.kinds.registry import AUDITOR_KINDS, auditor_kind
from auditor_client.studies.file_schema import Edge, Exact, MaybeExact, Name, StudyPart, Words
from openapi.kinds.inputs import input_of
from openapi.kinds.parameters import RequestParameter, parameters_of
from openapi.kinds.request_fields import EitherNoise

Count = Annotated[int, Field(ge=1)]
Edges = Annotated[list[Edge], Field(min_length=2)]
Levels = Annotated[list[Edge], Field(min_length=1)]
_PLAIN: Mapping[str, Any] = {
    "content": Name,
    "contents": Annotated[list[Name], Field(min_length=2)],
    "audit": Name,
    "log": Words,
    "column": Words,
    "text": Words,
    "flag": bool,
    "bins": Count | Edges,
    "context": dict[Words, str | Edge],
    "where": dict[Words, Annotated[list[Words], Field(min_length=1)]],
    "range": Annotated[list[Edge], Field(min_length=2, max_length=2)],
    "integers": list[Count],
}


class StudyAudit(StudyPart):
    """Fields of all kinds: the audience, and the mandate that pays if there are several."""

    kind: str
    audience: Name
    mandate: Words | None = None

    @property
    def half(self) -> AuditorKind:
        """Return the auditor half of the kind."""
        return auditor_kind(self.kind)

    @property
    def parameters(self) -> tuple[RequestParameter, ...]:
        """Return the parameters of the kind's contract."""
        return parameters_of(self.half.contract.request)

    @property
    def content_names(self) -> list[str]:
        """Return the study's names of the contents that the audit reads."""
        found: list[str] = []
        for each in self.parameters:
            if each.role == "content":
                found.append(getattr(self, each.name))
            elif each.role == "contents":
                found.extend(getattr(self, each.name))
        return found

    @property
    def earlier(self) -> dict[str, str]:
        """Return the study's names of audits on which this one depends, by parameter."""
        return {
            each.name: getattr(self, each.name) for each in self.parameters if each.role == "audit"
        }

    def unfit(self, before: Mapping[str, "StudyAudit"]) -> str | None:
        """Return the reason why the earlier audits do not support this one, or None."""
        kinds = {each.name: each.of for each in self.parameters}
        for parameter, name in self.earlier.items():
            first, wanted = before.get(name), kinds[parameter]
            if first is None or first.kind != wanted:
                return f"{parameter}: {name!r} must be an {wanted} that comes before it in the file"
            if (first.audience, _log_of(first)) != (self.audience, _log_of(self)):
                return f"{parameter}: {name!r} has another audience, or another log"
        return None


class StudyNoise(StudyAudit):
    """Laplace noise at an epsilon, or Gaussian noise at a rho."""

    @model_validator(mode="after")
    def _noise(self) -> Self:
        said = {name: getattr(self, name, None) for name in ("epsilon", "rho")}
        gaussian = getattr(self, "mechanism", None) == "discrete-gaussian"
        other = ("epsilon", "size_epsilon") if gaussian else ("rho", "size_rho")
        wrong = any(getattr(self, name, None) is not None for name in other)
        if wrong or (gaussian and said["rho"] is None):
            raise ValueError("discrete-gaussian noise takes rho, discrete-laplace takes epsilon")
        if not gaussian and said["epsilon"] is None:
            raise ValueError("epsilon is missing: a study must state its noise")
        return self


def study_model(kind: AuditorKind) -> type[StudyAudit]:
    """Return the model of a kind's audits in a study file."""
    request = kind.contract.request
    fields: dict[str, Any] = {"kind": (Literal[kind.name], ...)}
    for each in parameters_of(request):
        if each.role not in ("audience", "mandate", "error"):
            fields[each.name] = _field(each, kind)
        if each.levels:
            fields["levels"] = (Levels | None, None)
    for name, field in request.model_fields.items():
        # Obsolete field: older files have its only value.
        if input_of(field).role == "set" and isinstance(field.default, str):
            fields[name] = (Literal[field.default], field.default)
    base = StudyNoise if issubclass(request, EitherNoise) else StudyAudit
    name = request.__name__.removesuffix("Request")
    return create_model(f"Study{name}", __base__=base, __doc__=kind.contract.question, **fields)


def _field(each: RequestParameter, kind: AuditorKind) -> tuple[Any, Any]:
    """Return type and default of one key. A study must state its noise."""
    plain: Any
    if each.role == "amount":
        if each.name == "epsilon" and each.default is not None:
            return Exact, ...
        plain = MaybeExact if each.default is None else Exact
        if (unsaid := kind.contract.request.model_fields[each.field].exclude_if) is not None:
            # Studies that do not say it keep their digest.
            return Annotated[plain, Field(exclude_if=unsaid)], each.default
        return plain, each.default
    default = ... if each.required else each.default
    if each.role == "choice":
        plain = Literal[each.choices]
        default = kind.contract.request.model_fields[each.field].default
    elif each.role == "integer":
        plain = Annotated[int, Field(ge=each.least, le=each.most)]
    elif each.role == "words":
        listed = Annotated[list[Words], Field(min_length=1)] if default is None else list[Words]
        plain = listed | Literal["all"] if each.among == "days" else listed
    else:
        plain = _PLAIN[each.role]
    if isinstance(default, tuple):
        default = list(default)
    return (plain | None, None) if default is None else (plain, default)


def _log_of(audit: StudyAudit) -> str | None:
    return getattr(audit, "log", None)


MODELS = {
    name: study_model(kind) for name, kind in AUDITOR_KINDS.items() if not kind.asking.by_hand
}
if TYPE_CHECKING:
    AnyStudyAudit = StudyAudit
else:
    AnyStudyAudit = Annotated[Union[tuple(MODELS.values())], Field(discriminator="kind")]  # noqa: UP007
