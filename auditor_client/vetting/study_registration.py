"""Registration of a study by its digest, before its run."""

from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import validate
from openapi.resources import Registration, RegistrationDraft

PATH = "/v1/studies"


class Studies:
    """Registered studies of this auditor."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def register(self, digest: str) -> Registration:
        """Register this digest in the ledger. If it is registered already, the first time
        counts.
        """
        body = validate(RegistrationDraft, digest=digest)
        key = f"registration-{digest.removeprefix('sha256:')}"
        return self._statements.post(
            PATH, "registration", body, Registration, key=key, retry_idempotently=True
        )

    def list(self) -> list[Registration]:
        """Return all registrations, newest first."""
        return list(self._statements.transport.items(PATH, Registration))
