"""Sources of audiences: who brought the people together, and whether they displace each other."""

from typing import cast

from api.db import AudienceRow
from api.kinds.protocol import Source
from privacy.plans import has_fixed_slots

HIDDEN = "hidden"


def source_of(audience: AudienceRow) -> Source:
    """Return the source by which kinds of audit say what they support."""
    return "confirmed" if audience.participation_code else cast("Source", audience.source)


def displaces(audience: AudienceRow) -> bool:
    """Return whether one person who comes may put another out."""
    return has_fixed_slots(audience.source)
