"""Files of a study, which are read only if they have the stated digests."""

from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from auditor_client.audiences.file_tables import parse_table
from auditor_client.errors import InputError
from auditor_client.studies.audiences import GROUP, AnyUploaded, TableAudience
from auditor_client.studies.file_schema import PinnedFile
from auditor_client.studies.study_model import Study


def read_pinned(folder: Path, file: PinnedFile) -> bytes:
    """Return the bytes of the file, if they have the digest that the study states."""
    path = folder / file.path
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}. Paths start at the study's folder.",
            case="unreadable",
        ) from error
    found = sha256(data).hexdigest()
    if found != file.sha256:
        raise InputError(
            f"{path} is not the file that the study pins: its sha256 is {found}. Restore "
            "the file; or write the new digest into the study, which makes it another "
            "study.",
            case="another-file-than-pinned",
        )
    return data


def check_files(study: Study, folder: Path) -> None:
    """Refuse a study whose data changed."""
    for file in study.files():
        read_pinned(folder, file)


def people_of(audience: AnyUploaded, folder: Path) -> tuple[pa.Table, list[str]]:
    """Return the table of an audience, and its columns of groups."""
    if isinstance(audience, TableAudience):
        texts = [audience.id, *audience.by]
        return _table(folder, audience.file, texts, audience.where), audience.by
    columns = [audience.id, *filter(None, (audience.where, audience.cluster))]
    tables = []
    for name, file in audience.groups.items():
        table = _table(folder, file, [audience.id], audience.where)
        if lost := [column for column in columns if column not in table.column_names]:
            raise InputError(f"{file.path} has no column {lost[0]!r}.", case="no-such-column")
        group = pa.repeat(pa.scalar(name), len(table))
        tables.append(table.select(columns).append_column(GROUP, group))
    return pa.concat_tables(tables, promote_options="default"), [GROUP]


def _table(folder: Path, file: PinnedFile, texts: list[str], where: str | None) -> pa.Table:
    return parse_table(read_pinned(folder, file), folder / file.path, texts, where)
