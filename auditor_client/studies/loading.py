"""Reader of study files: strict YAML, and errors that state the next step."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from auditor_client.errors import InputError
from auditor_client.studies.audiences import FORMS
from auditor_client.studies.audit_models import MODELS
from auditor_client.studies.study_model import Study
from openapi.complaints import what_is_wrong

MAX_BYTES = 1_000_000
# Steps that pydantic adds to a location if a value has several forms.
_FORMS = frozenset({*FORMS, *MODELS})
_HINTS = {
    "string_type": "put it in quotes if it is text",
    "dict_type": "write key: value lines below it",
}


class PlainLoader(yaml.SafeLoader):
    """Loader of YAML's plain types, without duplicate keys and aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("a study may not use aliases (*name): write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise yaml.YAMLError(
                    f"the key {key!r} appears twice, in the mapping that begins at line {line}"
                )
        return super().construct_mapping(node, deep)


def read_study(path: str | Path) -> Study:
    """Return the study in a file."""
    file = Path(path)
    try:
        text = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.", case="unreadable") from error
    if len(text) > MAX_BYTES:
        raise InputError(
            f"{file} is larger than the limit of {MAX_BYTES} bytes for a study.",
            case="study-too-large",
        )
    return parse_study(text, str(file))


def parse_study(text: bytes, name: str = "the study") -> Study:
    try:
        return Study.model_validate(_plain(text))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} is not a study in YAML: {error}.", case="not-yaml") from error
    except ValidationError as error:
        wrong = "; ".join(_complaint(item) for item in error.errors())
        raise InputError(
            f"{name}: {wrong}. See docs/how-to/researchers/run-a-study-file.md.",
            case="malformed-study",
        ) from error


def _plain(text: bytes) -> Any:
    loader = PlainLoader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _complaint(item: ErrorDetails) -> str:
    """Return the location and the error, without the value, which may be private."""
    where = ".".join(str(step) for step in item["loc"] if step not in _FORMS)
    what = what_is_wrong(item).rstrip(".")
    if item["type"] == "missing" and item["loc"][-1] == "sha256":
        what = "it is missing: `sha256sum FILE` prints it"
    words = [f"{where}: {what[:1].lower()}{what[1:]}" if where else what]
    return ", ".join([*words, *filter(None, [_HINTS.get(item["type"])])])
