"""Progress of a study: the identifiers of its contents, audiences and audits, so that a second run
continues it.

One file of mode 0600 per study, service and researcher under `home()`, next to the
records of audiences.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor_client.errors import ProfileError
from auditor_client.local.private_files import home, write_private
from openapi.resources import Registration
from privacy.receipts import canonical, digest


class StudyState(BaseModel):
    """Identifiers by the names in the study. An audience is `open` until it is sealed.

    `sending` names audits that were sent, or were about to be sent, and whose answer did not
    arrive.
    """

    model_config = ConfigDict(extra="forbid")

    contents: dict[str, str] = {}
    open: dict[str, str] = {}
    audiences: dict[str, str] = {}
    audits: dict[str, str] = {}
    sending: list[str] = []
    registration: Registration | None = None


@dataclass
class State:
    """Identifiers made so far, and the file that stores them."""

    path: Path
    made: StudyState = field(default_factory=StudyState)

    @classmethod
    def of(cls, study: str, service: str, researcher: str) -> "State":
        """Return the state of the study with this digest."""
        named = digest(
            canonical({"study": study, "service": service, "by": researcher})
        ).removeprefix("sha256:")
        path = home() / "studies" / f"{named[:32]}.json"
        try:
            return cls(path, StudyState.model_validate_json(path.read_bytes()))
        except FileNotFoundError:
            return cls(path)
        except (OSError, ValidationError) as error:
            raise ProfileError(
                f"{path}, which records the progress of the study, cannot be read. "
                "Nothing was paid now. Restore the file; without it, the study must be "
                "run as another study."
            ) from error

    def save(self) -> None:
        write_private(self.path, self.made.model_dump_json(indent=1) + "\n")
