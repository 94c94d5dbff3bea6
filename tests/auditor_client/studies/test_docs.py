"""The study in docs/how-to/researchers/run-a-study-file.md is one, and has every key there is."""

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from auditor_client.studies import parse_study
from auditor_client.studies.audiences import GroupsAudience, SampleAudience, TableAudience
from auditor_client.studies.audit_models import MODELS
from auditor_client.studies.file_schema import PinnedFile
from auditor_client.studies.study_model import (
    CanaryChecks,
    ConsistencyTest,
    Metrics,
    Planning,
    Study,
    StudyContent,
)

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "researchers" / "run-a-study-file.md"
PARTS: list[Any] = [
    Study, StudyContent, TableAudience, GroupsAudience, SampleAudience, Metrics, ConsistencyTest,
    CanaryChecks, Planning, PinnedFile, *MODELS.values(),
]  # fmt: skip


def test_the_documented_study_is_one() -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    study = parse_study(text.encode())
    assert len(study.files()) == 4
    assert study.delta_each == study.delta / 6


def test_every_key_is_documented() -> None:
    words = PAGE.read_text(encoding="utf-8")
    parts: list[type[BaseModel]] = PARTS
    keys = {key for part in parts for key in part.model_fields}
    assert [key for key in sorted(keys) if f"{key}:" not in words] == []
