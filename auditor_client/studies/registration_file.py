"""File of a study's registration: the ledger entry that names it, and the proof of the entry."""

import json
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from auditor_client.errors import InputError, LedgerError
from auditor_client.ledger.receipt_check import check_inclusion
from openapi.resources import InclusionProof, Registration
from privacy.ledger.trust import Trust


class SavedRegistration(BaseModel):
    """The platform's statement about the registration, and the proof of its ledger entry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["platform-auditor/registration/v1"] = "platform-auditor/registration/v1"
    registration: Registration
    proof: InclusionProof

    def check(self, digest: str, trust: Trust) -> None:
        """Raise an error unless the ledger holds an entry that registers exactly this study."""
        said = self.registration
        if _entered(self.proof) != (said.entry, said.at, said.by, {"digest": digest}):
            raise LedgerError(
                "The ledger's entry does not register this study as the platform states. "
                "Keep the file and tell the regulator."
            )
        check_inclusion(self.proof, trust, "the registration")

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "SavedRegistration":
        try:
            return cls.model_validate_json(Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
        except ValidationError as error:
            raise InputError(
                f"{path} is not a registration file written by the run of a study."
            ) from error


def _entered(proof: InclusionProof) -> tuple[int, datetime, object, object]:
    """Return number, time, maker and body of the proved entry."""
    try:
        entry = json.loads(proof.entry)
        stated = entry["statement"]
        if (entry["kind"], entry["number"]) == ("registration", proof.number):
            at = datetime.fromisoformat(entry["at"])
            return proof.number, at, stated["by"], stated["body"]
    except (ValueError, KeyError, TypeError):
        pass
    raise LedgerError("The proof is for an entry that is not a registration.")
