"""A small study, as text and as what the text says."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

SHA = "ab" * 32
STUDY: dict[str, Any] = {
    "version": 1,
    "title": "Software jobs, by gender",
    "platform": "https://audit.platform.example",
    "contents": {"job": {"kind": "job", "title": "Software engineer"}},
    "audiences": {
        "volunteers": {"file": {"path": "people.csv", "sha256": SHA}, "id": "email", "by": ["g"]}
    },
    "audits": {
        "gender": {
            "kind": "score-histogram",
            "content": "job",
            "audience": "volunteers",
            "bins": 4,
            "epsilon": 1,
        }
    },
}


def changed(path: str, value: object) -> dict[str, Any]:
    """The study with the value at this path (`a.b.c`); None takes the key away."""
    study = deepcopy(STUDY)
    *steps, last = path.split(".")
    at = study
    for step in steps:
        at = at.setdefault(step, {})
    if value is None:
        del at[last]
    else:
        at[last] = value
    return study


def text_of(study: dict[str, Any]) -> bytes:
    return str(yaml.safe_dump(study, sort_keys=False)).encode()


def written(folder: Path, study: dict[str, Any]) -> Path:
    path = folder / "audit.yaml"
    path.write_bytes(text_of(study))
    return path
