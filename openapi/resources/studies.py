"""Studies that are registered before their run: the ledger stores the digest of the study's
file.
"""

from typing import Annotated

from pydantic import Field

from openapi.resources.ledger import Number
from openapi.wire_model import Digest, Identifier, Instant, Wire, example


class RegistrationDraft(Wire):
    """Study before its run, named only by its digest: nobody learns its content."""

    model_config = example(digest=f"sha256:{'ab' * 32}")

    digest: Digest


class Registration(Wire):
    """Registration of a study: its time, and its ledger entry."""

    digest: Digest
    by: Identifier
    entry: Annotated[Number, Field(description="The number of the entry.")]
    at: Instant
