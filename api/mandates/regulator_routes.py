"""What auditors see of their budget, and regulators and operators of everything."""

from typing import Annotated

from fastapi import Query
from sqlmodel import col, select

from api.accounts import service as accounts
from api.db import AuditorRow, ChargeRow, MandateRow, ResearcherRow
from api.identity.roles import AuditorDep, OperatorDep, RegulatorDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import key_rotation
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.mandates import service as mandates
from api.web.dependencies import OriginDep, ReadDep, SigningKeysDep, StoreDep
from api.web.pagination import page
from api.web.parameters import CursorQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import (
    Auditor,
    AuditorDraft,
    Budget,
    Charge,
    Mandate,
    MandateDraft,
    Page,
    Researcher,
    ResearcherDraft,
    SigningKey,
)

_ROLE = responses(UnauthenticatedError, ForbiddenError, RateLimitedError)
budget = new_router(prefix="/v1/budget", tags=["budget"], responses=_ROLE)
regulator = new_router(prefix="/v1/regulator", tags=["regulator"], responses=_ROLE)
operator = new_router(prefix="/v1/operator", tags=["operator"], responses=_ROLE)

IdQuery = Annotated[str | None, Query(max_length=64)]


@budget.get("")
def get_budget(caller: AuditorDep, session: ReadDep) -> Budget:
    """Your mandates: limit, spent, remaining."""
    mine = select(MandateRow).where(MandateRow.auditor_id == caller.auditor)
    rows = session.exec(mine.order_by(col(MandateRow.id).desc()))
    return Budget(mandates=[mandates.view(session, row) for row in rows])


@regulator.post("/auditors", status_code=201, responses=responses(*REFUSALS, body=True))
def register_auditor(
    draft: AuditorDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Auditor:
    """Register a research organisation that was vetted."""
    with store.write() as session:
        statement = signed.statement(session, caller, "auditor", draft)
        return accounts.register_auditor(session, draft, statement)


@regulator.get("/auditors")
def list_auditors(
    _: RegulatorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Auditor]:
    """All auditors, newest first."""
    return page(session, select(AuditorRow), AuditorRow.id, accounts.auditor_view, cursor, limit)


@regulator.post(
    "/researchers",
    status_code=201,
    responses=responses(*REFUSALS, NotFoundError, ConflictError, body=True),
)
def register_researcher(
    draft: ResearcherDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Researcher:
    """Register a named individual with their public key."""
    with store.write() as session:
        statement = signed.statement(session, caller, "researcher", draft)
        return accounts.register_researcher(session, draft, statement)


@regulator.get("/researchers")
def list_researchers(
    _: RegulatorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Researcher]:
    """All registered individuals, newest first."""
    everyone = select(ResearcherRow)
    return page(session, everyone, ResearcherRow.id, accounts.researcher_view, cursor, limit)


@regulator.post(
    "/mandates", status_code=201, responses=responses(*REFUSALS, NotFoundError, body=True)
)
def grant_mandate(
    draft: MandateDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Mandate:
    """Grant a mandate: what for, which kinds, how much epsilon, from when until when."""
    with store.write() as session:
        statement = signed.statement(session, caller, "mandate", draft)
        return mandates.grant(session, draft, statement)


@regulator.get("/mandates")
def list_mandates(
    _: RegulatorDep,
    session: ReadDep,
    auditor_id: IdQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = 50,
) -> Page[Mandate]:
    """All mandates and what is left of them, newest first."""
    query = select(MandateRow)
    if auditor_id is not None:
        query = query.where(MandateRow.auditor_id == auditor_id)
    return page(
        session, query, MandateRow.id, lambda row: mandates.view(session, row), cursor, limit
    )


@regulator.get("/charges")
def list_charges(
    _: RegulatorDep,
    session: ReadDep,
    auditor_id: IdQuery = None,
    audience_id: IdQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = 50,
) -> Page[Charge]:
    """Who spent what on which audience, newest first."""
    query = select(ChargeRow)
    if auditor_id is not None:
        query = query.where(ChargeRow.auditor_id == auditor_id)
    if audience_id is not None:
        query = query.where(ChargeRow.audience_id == audience_id)
    return page(session, query, ChargeRow.id, accounts.charge_view, cursor, limit)


@operator.get("/keys")
def list_keys(_: OperatorDep, store: StoreDep) -> list[SigningKey]:
    """The signing keys of this service, in use and retired; never their private parts."""
    return accounts.signing_keys(store)


@operator.post("/keys/rotate", status_code=201)
def rotate_keys(
    caller: OperatorDep, store: StoreDep, signing_keys: SigningKeysDep, origin: OriginDep
) -> list[SigningKey]:
    """Sign with fresh keys from now on. What the old ones signed stays verifiable."""
    key_rotation.rotate(store, signing_keys, origin, caller.researcher_id)
    return accounts.signing_keys(store)
