"""Records of facts that only this machine knows: names of an audience's groups, and its salt.

One file of mode 0600 per audience under `home()`, so a later process still knows the names.
"""

import json
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from pathlib import Path

from auditor_client.errors import ProfileError
from auditor_client.local.private_files import home, write_private

IDENTIFIER = re.compile(r"[a-z]+_[0-9a-f]{30}")


@dataclass(frozen=True)
class Record:
    """Names by label and, for an upload, the salt and the commitment that sealing must return.

    To open the commitment, one needs the members, the salt, and the rows per part of each label.
    Records made before version 2 of the commitment have no rows. `clusters` is what an analysis
    needs of people who were recruited together.
    """

    names: dict[str, str]
    salt: bytes = field(default=b"", repr=False)
    commitment: str | None = None
    rows: dict[str, int] | None = None
    clusters: dict[str, float] | None = None


def save_record(audience_id: str, record: Record) -> None:
    content = {
        "names": record.names,
        "salt": b64encode(record.salt).decode(),
        "commitment": record.commitment,
        "rows": record.rows,
        "clusters": record.clusters,
    }
    write_private(_path(audience_id), json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def load_record(audience_id: str) -> Record | None:
    """Return the record of an audience; return None if this machine did not make it."""
    path = _path(audience_id)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Record(
            dict(content["names"]),
            b64decode(content["salt"]),
            content["commitment"],
            content.get("rows"),
            content.get("clusters"),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProfileError(
            f"The names of the groups in {path} cannot be read.", case="unreadable"
        ) from error


def names_for(audience_id: str) -> dict[str, str]:
    """Return names by label; return none if this machine knows none."""
    record = load_record(audience_id)
    return record.names if record else {}


def _path(audience_id: str) -> Path:
    # The service's identifier becomes a file name, so it must be a plain identifier.
    if not IDENTIFIER.fullmatch(audience_id):
        raise ProfileError(f"{audience_id!r} is not an identifier of an audience.")
    return home() / "audiences" / f"{audience_id}.json"
