"""A check that nothing was forgotten: every kind has options, and every field of a request varies.

A field is covered if options of its kind ask for at least two values of it. One that cannot change
what one person moves is listed with the reason.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

from api.kinds.registry import KINDS
from openapi.kinds.two_party import SoftMetric
from openapi.kinds.unions import AnyRequest
from tests.privacy_audit.sensitivity.options import Option

_NAMED = "names what is read or paid with, which is the same in all worlds"
IRRELEVANT: Mapping[str, str] = {
    "kind": "says which kind it is",
    "audience_id": _NAMED,
    "mandate_id": _NAMED,
    "content_id": _NAMED,
    "contents": "values of contents move together; their number is in no bound of a selection",
    "creators": "names a column; the log of the small worlds has one",
    "metric.content_id": _NAMED,
    "reo: log": "the small worlds have one log of recommendations",
    "metric.name": "says which metric it is",
    "score-histogram: least_share": "is repeated in the release; only the analysis uses it",
}


def gaps(options: Iterable[Option], kinds: Iterable[str] = tuple(KINDS)) -> list[str]:
    """Name every kind without options, and every field that none of its options varies."""
    by_kind = defaultdict[str, list[Option]](list)
    for option in options:
        by_kind[option.kind].append(option)
    missing = [f"{kind} has no options to search" for kind in kinds if kind not in by_kind]
    for kind, some in by_kind.items():
        missing += [f"{kind}: no options vary {field}" for field in _unvaried(kind, some)]
    return missing


def _unvaried(kind: str, options: list[Option]) -> Iterator[str]:
    asked = [option.request for option in options]
    if kind == "two-party":
        for model in get_args(get_args(SoftMetric)[0]):
            metrics = [each.metric for each in asked if isinstance(each.metric, model)]
            for name in _still(model, metrics):
                if f"metric.{name}" not in IRRELEVANT:
                    yield f"{name} of {model.__name__}"
    for name in _still(_model_of(kind), asked):
        if name not in IRRELEVANT and f"{kind}: {name}" not in IRRELEVANT:
            yield name


def _still(model: type[BaseModel], asked: list[Any]) -> Iterator[str]:
    """The fields of a model that have one value in all of these, or none."""
    for field in model.model_fields:
        if len({repr(getattr(each, field)) for each in asked}) < 2:
            yield field


def _model_of(kind: str) -> type[BaseModel]:
    models: tuple[type[BaseModel], ...] = get_args(AnyRequest)
    [found] = [model for model in models if kind in get_args(model.model_fields["kind"].annotation)]
    return found
