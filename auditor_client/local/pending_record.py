"""Record of one audit that may have been charged and whose result was not yet delivered."""

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor_client.errors import PendingAuditError
from auditor_client.local.private_files import write_private


class PendingRecord(BaseModel):
    """Idempotency key, signed request and, once the service has answered, the audit.

    `name` identifies the request. `audience_id` is set if the command itself uploads people, so
    that running it again finds them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    name: str
    key: str
    begun_at: datetime
    audience_id: str | None = None
    request: dict[str, Any] | None = None
    signature: str | None = None
    audit_id: str | None = None
    price: str | None = None

    @classmethod
    def fresh(cls, name: str, key: str | None = None) -> "PendingRecord":
        """Return a record before any request is sent, with the given key (default: a new key)."""
        made = key or secrets.token_urlsafe(24)
        return cls(name=name, key=made, begun_at=datetime.now(UTC))

    @property
    def sent(self) -> bool:
        """Whether the request may have been sent: it is signed and stored just before."""
        return self.signature is not None

    @property
    def charged(self) -> str:
        """The audit and its price, in words."""
        return f"{self.audit_id}, {self.price}"


def load_pending(path: Path, name: str) -> PendingRecord | None:
    """Return the record at a path, or None if there is none; refuse one that is damaged."""
    try:
        record = PendingRecord.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise damaged(path) from error
    if record.name != name:
        raise damaged(path)
    return record


def save_pending(path: Path, record: PendingRecord) -> None:
    """Write the record so that it survives a crash of the machine."""
    write_private(path, record.model_dump_json(indent=1) + "\n")


def damaged(path: Path) -> PendingAuditError:
    """Return the error of a record that cannot be read."""
    return PendingAuditError(
        f"{path} is the record of the same audit, and cannot be read. That audit may have "
        "been charged. Nothing was sent now. Look for the audit with: auditor audit "
        "list. Then delete the file; or start another audit with --new (in Python: "
        "new=True)."
    )
