"""Registering a study by its digest, before it is run."""

from auditor_client.transport.signed_requests import Statements
from auditor_client.transport.validation import validate
from openapi.resources import Registration, RegistrationDraft

PATH = "/v1/studies"


class Studies:
    """The registered studies of this auditor."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def register(self, digest: str) -> Registration:
        """Have the ledger name this digest. Once it does, the first time is what counts."""
        body = validate(RegistrationDraft, digest=digest)
        key = f"registration-{digest.removeprefix('sha256:')}"
        return self._statements.post(
            PATH, "registration", body, Registration, key=key, retry_idempotently=True
        )

    def list(self) -> list[Registration]:
        """All registrations, newest first."""
        return list(self._statements.transport.items(PATH, Registration))
