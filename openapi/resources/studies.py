"""Studies, registered before they are run: the ledger keeps the digest of the study's file."""

from typing import Annotated

from pydantic import Field

from openapi.resources.ledger import Number
from openapi.wire_model import Digest, Identifier, Instant, Wire, example


class RegistrationDraft(Wire):
    """A study that is not run yet, named by its digest alone: nobody learns what it asks."""

    model_config = example(digest=f"sha256:{'ab' * 32}")

    digest: Digest


class Registration(Wire):
    """When a study was registered, and the entry of the ledger that says so."""

    digest: Digest
    by: Identifier
    entry: Annotated[Number, Field(description="The number of the entry.")]
    at: Instant
