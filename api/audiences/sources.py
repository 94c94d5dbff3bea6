"""Sources of audiences: by whom the people were brought together."""

from typing import cast

from api.db import AudienceRow
from openapi.resources.audiences import SupportedSource


def source_of(audience: AudienceRow) -> SupportedSource:
    """Return the source by which kinds of audit say what they support."""
    return "confirmed" if audience.participation_code else cast("SupportedSource", audience.source)
