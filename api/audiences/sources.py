"""Sources of audiences: how the people were selected."""

from typing import cast

from api.db import AudienceRow
from openapi.resources.audiences import SupportedSource


def source_of(audience: AudienceRow) -> SupportedSource:
    """Return the source, in the terms in which kinds of audit state their support."""
    return "confirmed" if audience.participation_code else cast("SupportedSource", audience.source)
