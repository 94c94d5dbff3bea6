"""Audiences of a study: a table of people, a file per group, or a sample drawn by the platform."""

from operator import not_
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from auditor_client.studies.file_schema import PinnedFile, Share, StudyPart, Words

GROUP = "group"


# Members agreed to see other people's recommendations. The field is omitted if false, so the
# digests of studies registered earlier do not change.
def _unsaid(value: object) -> bool:
    return value is None


Consented = Annotated[bool, Field(exclude_if=not_)]


class UploadFields(StudyPart):
    """Fields of all uploads: the column of identifiers, and whether people must confirm."""

    id: Words
    id_kind: Words | None = None
    country: Words | None = None
    where: Words | None = None
    drop_missing: bool = False
    groups_per_person: Annotated[int, Field(ge=1)] = 1
    confirmed: bool = False
    consented: Consented = False
    cluster: Annotated[Words | None, Field(exclude_if=_unsaid)] = None
    correlation: Annotated[Share | None, Field(exclude_if=_unsaid)] = None


class TableAudience(UploadFields):
    """One file, with one column of groups, or several for crossed groups."""

    file: PinnedFile
    by: Annotated[list[Words], Field(min_length=1)]

    @property
    def files(self) -> list[PinnedFile]:
        return [self.file]


class GroupsAudience(UploadFields):
    """One file for each group."""

    groups: Annotated[dict[Words, PinnedFile], Field(min_length=1)]

    @property
    def files(self) -> list[PinnedFile]:
        return list(self.groups.values())


class SampleAudience(StudyPart):
    """People whom the platform draws among those who declared an attribute there."""

    attribute: Words
    sizes: Annotated[dict[Words, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    consented: Consented = False

    @property
    def files(self) -> list[PinnedFile]:
        return []


TABLE, GROUPS, SAMPLE = FORMS = ("(one table)", "(a file per group)", "(a sample)")


def _form(given: Any) -> str:
    keys = set(given if isinstance(given, dict) else getattr(given, "model_fields_set", ()))
    if keys & {"attribute", "sizes"}:
        return SAMPLE
    return GROUPS if "groups" in keys else TABLE


AnyUploaded = TableAudience | GroupsAudience
Audience = Annotated[
    Annotated[TableAudience, Tag(TABLE)]
    | Annotated[GroupsAudience, Tag(GROUPS)]
    | Annotated[SampleAudience, Tag(SAMPLE)],
    Discriminator(_form),
]
