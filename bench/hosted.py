"""A service in this process, a vetted researcher, and audiences of any size."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
from joserfc.jwk import OKPKey

from api.accounts.service import register_auditor, register_researcher
from api.app.container import Container, build_container
from api.audiences import sealing, uploads
from api.audits.queue.worker import Worker
from api.contents import service as contents
from api.db import AudienceRow
from api.db.schema import migrate
from api.identity.caller import Caller
from api.mandates.service import grant
from api.operations.setup import register_first
from api.platforms.interfaces import Platform
from openapi.resources import (
    AudienceDraft,
    AuditorDraft,
    ContentDraft,
    Edges,
    MandateDraft,
    Personal,
    ResearcherDraft,
    ScoreHistogramRequest,
)
from platform_sim import SOFTWARE_JOB
from privacy.commitment import commit
from privacy.tables.membership import Membership, Persons
from tests.statements import Maker, new_key
from tests.world import make_settings, sqlite_url

BINS = 100
EDGES = np.linspace(0, 1, BINS + 1)


@dataclass(frozen=True)
class Hosted:
    service: Container
    auditor: Caller
    maker: Maker
    worker: Worker

    def audit(self, request: ScoreHistogramRequest) -> None:
        """Run an audit from the signed request to the committed release."""
        self.submit(request)
        assert self.worker.run_one()

    def submit(self, request: ScoreHistogramRequest) -> None:
        """Submit an audit: it is charged and queued."""
        service, asked = self.service, self.maker.states("charge", request)
        service.submissions.submit(self.auditor, request, asked)

    def sealed(
        self, everybody: Persons, epsilon: str = "0.1", bins: int = BINS
    ) -> tuple[ScoreHistogramRequest, tuple[Persons, ...]]:
        """Return content, a sealed audience of these people in two groups, and the request of an
        audit.
        """
        membership = Membership.from_groups(np.array_split(everybody, 2), 1)
        with self.service.store.write() as session:
            fields = {name: value for name, value in SOFTWARE_JOB.items() if name != "image"}
            content = contents.create(
                session, self.auditor, ContentDraft(**fields), self.service.settings
            )
            draft = AudienceDraft(groups=["g0", "g1"])
            audience = uploads.create(session, self.auditor, draft, self.service.settings)
            sealing.close(
                session,
                session.get_one(AudienceRow, audience.id),
                uploads.load_groups(session, audience.id),
                membership,
                commit(secrets.token_bytes(32), {}),
                self.service.settings,
                known=False,
            )
        request = ScoreHistogramRequest(
            content_id=content.id,
            audience_id=audience.id,
            bins=Edges(edges=np.linspace(0, 1, bins + 1).tolist()),
            epsilon=Decimal(epsilon),
        )
        return request, membership.groups


@contextmanager
def hosted(folder: Path, platform: Platform) -> Iterator[Hosted]:
    with hosted_on(sqlite_url(folder), platform) as host:
        yield host


@contextmanager
def hosted_on(database_url: str, platform: Platform) -> Iterator[Hosted]:
    service = build_container(make_settings(database_url, "http://127.0.0.1"), platform)
    migrate(service.store)
    try:
        yield vetted(service, first_regulator(service))
    finally:
        service.store.close()


def first_regulator(service: Container) -> Maker:
    own = new_key()
    public = dict(own.as_dict(private=False))
    return Maker(register_first(service.store, "regulator", public), own, service.origin)


def vetted(service: Container, regulator: Maker) -> Hosted:
    """Return the service as a new researcher with a mandate sees it."""
    key = new_key()
    auditor = _registered(service, regulator, key)
    maker = Maker(auditor.researcher_id, key, service.origin)
    return Hosted(service, auditor, maker, service.worker())


def _registered(service: Container, regulator: Maker, key: OKPKey) -> Caller:
    with service.store.write() as session:
        named = AuditorDraft(name="Bench")
        lab = register_auditor(session, named, regulator.states("auditor", named))
        known = ResearcherDraft(
            name=Personal.fresh("Bench"),
            auditor_id=lab.id,
            jwk=dict(key.as_dict(private=False)),
        )
        person = register_researcher(session, known, regulator.states("researcher", known))
        draft = MandateDraft(
            auditor_id=lab.id,
            purpose="bench",
            epsilon_limit=Decimal(1000),
            valid_from=datetime(2000, 1, 1, tzinfo=UTC),
            valid_until=datetime(2100, 1, 1, tzinfo=UTC),
        )
        grant(session, draft, regulator.states("mandate", draft))
    return Caller(person.id, "bench", "auditor", lab.id)
