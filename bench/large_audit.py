"""An audit of a million people, from a sealed audience to a committed release.

The floor is what nobody can do without: the same `Scores` call on the same person numbers,
`bincount`, and OpenDP noise on the cells. Ours adds the price, the charge and the ledger, reading
the audience, cutting, the receipt, and the commits. The model is the demo's.
"""

import secrets
import tempfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

import numpy as np
import opendp.prelude as dp
from joserfc.jwk import OKPKey

from api import contents, persons, submissions
from api.app import build_service
from api.audiences import sealing, uploads
from api.audits.bins import bin_of
from api.auth.caller import Caller
from api.compose import simulated
from api.mandates import grant
from api.registry import register_auditor, register_researcher
from api.service import Service
from api.setup import register_first
from api.store import AudienceRow
from api.store.schema import migrate
from bench.harness import Figure, compare
from openapi.models import (
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
from privacy.membership import Membership, Persons
from tests.statements import Maker, new_key
from tests.world import make_settings, sqlite_url

BINS = 100
COMMAND = "python -m bench large-audit"


def run(people: int = 1_000_000) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return _run(Path(folder), people)


def _run(folder: Path, people: int) -> list[Figure]:
    platform = simulated(people=people)
    service = build_service(make_settings(sqlite_url(folder), "http://127.0.0.1"), platform)
    migrate(service.store)
    key = new_key()
    auditor = _vetted(service, key)
    maker = Maker(auditor.researcher_id, key, service.origin)
    request, groups = _sealed(service, auditor, people)
    worker = service.worker()

    def ours() -> None:
        asked = maker.states("charge", request)
        submissions.submit(service.store, auditor, request, asked, platform, service.settings)
        assert worker.run_one()

    edges = Edges(edges=list(np.linspace(0, 1, BINS + 1)))

    def without_balances() -> None:
        with patch.object(persons, "charge", return_value=[None] * len(groups)):
            ours()

    name = f"audit of {sum(map(len, groups)):,} people, sealed to released"
    floor = "scores, bincount and noise"
    figures = [
        compare(
            f"{name}; beside {floor}",
            ours,
            lambda: _floor(service, groups, edges),
            goal="≤ 1.7",
            command=COMMAND,
        ),
        compare(
            f"{name}, without people's balances; beside {floor}",
            without_balances,
            lambda: _floor(service, groups, edges),
            goal="≤ 1.3",
            command=COMMAND,
        ),
        compare(
            f"{name}; beside itself without people's balances",
            ours,
            without_balances,
            goal="≤ 1.33",
            command=COMMAND,
        ),
    ]
    service.store.close()
    return figures


def _floor(service: Service, groups: tuple[Persons, ...], edges: Edges) -> None:
    scores = service.platform.scores
    assert scores is not None
    context = {name: values[0] for name, values in scores.context.items()}
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=1.0)
    cells = [
        np.bincount(bin_of(scores.score(SOFTWARE_JOB, group, context), edges), minlength=BINS + 1)
        for group in groups
    ]
    mechanism(np.concatenate(cells).astype(np.int64))


def _vetted(service: Service, key: OKPKey) -> Caller:
    """A researcher with this key and a mandate."""
    own = new_key()
    public = dict(own.as_dict(private=False))
    regulator = Maker(register_first(service.store, "regulator", public), own, service.origin)
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


def _sealed(
    service: Service, auditor: Caller, people: int
) -> tuple[ScoreHistogramRequest, tuple[Persons, ...]]:
    """Content, a sealed audience of everybody in two groups, and the request to audit them."""
    everybody = np.random.default_rng(0).permutation(people).astype(np.int64)
    membership = Membership.cut(np.array_split(everybody, 2), 1)
    with service.store.write() as session:
        fields = {name: value for name, value in SOFTWARE_JOB.items() if name != "image"}
        content = contents.create(session, auditor, ContentDraft(**fields))
        draft = AudienceDraft(groups=["g0", "g1"])
        audience = uploads.create(session, auditor, draft, service.settings)
        sealing.close(
            session,
            session.get_one(AudienceRow, audience.id),
            uploads.groups_of(session, audience.id),
            membership,
            commit(secrets.token_bytes(32), {}),
            service.settings,
            known=False,
        )
    request = ScoreHistogramRequest(
        content_id=content.id,
        audience_id=audience.id,
        bins=Edges(edges=list(np.linspace(0, 1, BINS + 1))),
        epsilon=Decimal("0.1"),
    )
    return request, membership.groups
