"""Opening of a two-party run: the regulator decrypts and checks every weight, and states the
result.

The weights are neither stored nor sent: only the statement whether they are as declared.
"""

from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import TYPE_CHECKING

from joserfc.jwk import OKPKey

from auditor_client.errors import ContractError, InputError
from auditor_client.transport.http_client import Transport
from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import validate
from openapi.resources import OpeningDraft, StoredRun

if TYPE_CHECKING:
    from privacy.two_party import Opening

PATH = "/v1/regulator/two-party-runs"


def waiting(transport: Transport) -> list[StoredRun]:
    """Return runs that were answered but not yet delivered."""
    from pydantic import TypeAdapter

    return TypeAdapter(list[StoredRun]).validate_json(transport.send("GET", PATH).content)


def look_into(transport: Transport, audit_id: str, key: OKPKey) -> tuple[StoredRun, "Opening"]:
    """Return the stored run, and the findings of the opening with the regulator's key."""
    try:
        from privacy.two_party import RunTerms, open_transcript, opening_key_of
    except ImportError as error:
        raise InputError(
            "Opening runs needs further packages: pip install 'platform-auditor[two-party]'."
        ) from error
    run = transport.get(f"{PATH}/{audit_id}", StoredRun)
    if run.sealed_to != key.as_dict(private=False)["x"]:
        raise InputError(
            f"{audit_id} is sealed to another key, which {run.regulator_id} had at the "
            "time of the run. Only that key opens it.",
            case="another-key",
        )
    stored = transport.send("GET", f"{PATH}/{audit_id}/messages").content
    terms = RunTerms.from_json(run.terms.encode())
    seed = urlsafe_b64decode(str(key.as_dict(private=True)["d"]) + "==")
    messages = list(_messages(stored))
    return run, open_transcript(terms, messages, run.transcript, opening_key_of(seed))


def state(statements: Statements, run: StoredRun, opening: "Opening") -> StoredRun:
    """Sign a statement of the findings for the ledger; a run without findings can be delivered."""
    codes = list(dict.fromkeys(finding.code for finding in opening.findings))
    body = validate(OpeningDraft, audit_id=run.audit_id, transcript=run.transcript, findings=codes)
    return statements.post("/v1/regulator/openings", "opening", body, StoredRun)


def _messages(stored: bytes) -> Iterator[bytes]:
    """Yield each message after its length in four bytes."""
    offset = 0
    while offset < len(stored):
        length = int.from_bytes(stored[offset : offset + 4], "big")
        message = stored[offset + 4 : offset + 4 + length]
        if len(message) != length:
            raise ContractError("The stored messages are truncated.")
        yield message
        offset += 4 + length
