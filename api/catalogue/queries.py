"""Catalogue: the whole offer of a platform, in public numbers."""

from api.catalogue.codebook import codebook, exploration_offer, log_offers
from api.kernel.settings import Settings
from api.kinds.registry import offered
from api.platforms.interfaces import Platform
from openapi.resources import (
    MAX_BINS,
    Catalogue,
    ContextField,
    Limits,
    SampleOffer,
    ScoreRange,
)
from openapi.resources.audiences import IDENTIFIER_KINDS
from openapi.resources.contents import CONTENT_KINDS
from openapi.wire_model import MAX_EPSILON


def get_catalogue(platform: Platform, settings: Settings) -> Catalogue:
    """Return the offer of this platform."""
    offers = platform.people.offers()
    scores = platform.scores
    low, high = scores.score_range if scores else (0.0, 1.0)
    return Catalogue(
        platform=platform.name,
        kinds=offered(platform),
        contents=list(CONTENT_KINDS),
        identifiers=list(IDENTIFIER_KINDS),
        samples=[
            SampleOffer(attribute=attribute, value=value, available=available)
            for attribute, values in offers.items()
            for value, available in values.items()
        ],
        context=[
            ContextField(name=name, values=list(values), default=values[0])
            for name, values in (scores.context if scores else {}).items()
        ],
        score_range=ScoreRange(low=low, high=high),
        model_digest=scores.model_digest if scores else None,
        logs=log_offers(platform),
        exploration=exploration_offer(platform),
        limits=Limits(
            members_per_audience=settings.max_members,
            bytes_per_part=settings.max_part_bytes,
            rows_per_part=settings.max_part_rows,
            bins=MAX_BINS,
            epsilon_per_audit=MAX_EPSILON,
            rho_per_person=settings.person_lifetime_rho,
            members_kept_days=settings.members_kept_days,
        ),
        codebook=codebook(platform),
    )
