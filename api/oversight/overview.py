"""Overview: each auditor's budget and rate of spending, and the platform's remaining budget."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from sqlmodel import Session, col, func, select

from api.accounting.platform_budget import number_of_window
from api.db import (
    AuditorRow,
    AuditRow,
    ChargeRow,
    EntryRow,
    MandateRow,
    PlatformAccountRow,
    ResearcherRow,
)
from api.db.types import as_decimal
from api.kernel.clock import EPOCH, now
from api.kernel.hard_limits import PLATFORM_WINDOW_DAYS
from api.kernel.settings import Settings
from api.mandates import budgets
from api.mandates.service import renewal_of
from openapi.resources import AuditorOverview, MandateOverview, Overview, PlatformWindow

RATE_DAYS = 30


def build_overview(session: Session, settings: Settings, auditor_id: str | None = None) -> Overview:
    """Return all auditors with their mandates, or one of them."""
    at = now()
    figures = _Figures.read(session, at)
    auditors, mandates = select(AuditorRow), select(MandateRow)
    if auditor_id is not None:
        auditors = auditors.where(AuditorRow.id == auditor_id)
        mandates = mandates.where(MandateRow.auditor_id == auditor_id)
    granted: dict[str, list[MandateOverview]] = {}
    for row in session.exec(mandates.order_by(col(MandateRow.id).desc())):
        granted.setdefault(row.auditor_id, []).append(_mandate(session, row, figures, at))
    return Overview(
        at=at,
        platform=_platform(session, settings, at),
        auditors=[
            _auditor(row, granted.get(row.id, []), figures)
            for row in session.exec(auditors.order_by(col(AuditorRow.id).desc()))
        ],
    )


def forecast_exhaustion(mandate: MandateRow, spent: Fraction, at: datetime) -> date | None:
    """Return the day on which the budget is exhausted, if spending continues at the recent rate."""
    days = min(RATE_DAYS, max(1, (at - mandate.valid_from).days))
    whole = mandate.limit if mandate.lifetime_limit is None else mandate.lifetime_limit
    left = whole - mandate.spent
    # Compared before the addition, because a slow rate ends beyond the last date.
    if spent <= 0 or left / spent * days > (mandate.valid_until - at) / timedelta(days=1):
        return None
    return (at + timedelta(days=float(left / spent * days))).date()


@dataclass(frozen=True)
class _Figures:
    """Counts over all mandates and auditors, loaded at once."""

    week: Mapping[str, Fraction]
    month: Mapping[str, Fraction]
    by_mandate: Mapping[str, Counter[str]]
    by_auditor: Mapping[str, Counter[str]]
    refusals: Mapping[str | None, int]
    researchers: Mapping[str | None, int]

    @classmethod
    def read(cls, session: Session, at: datetime) -> "_Figures":
        refused = select(EntryRow.auditor_id, func.count()).where(EntryRow.kind == "refusal")
        people = select(ResearcherRow.auditor_id, func.count())
        return cls(
            week=_spent_since(session, at - timedelta(days=7)),
            month=_spent_since(session, at - timedelta(days=RATE_DAYS)),
            by_mandate=_states(session, AuditRow.mandate_id),
            by_auditor=_states(session, AuditRow.auditor_id),
            refusals=dict(session.exec(refused.group_by(col(EntryRow.auditor_id))).all()),
            researchers=dict(session.exec(people.group_by(col(ResearcherRow.auditor_id))).all()),
        )


def _spent_since(session: Session, since: datetime) -> dict[str, Fraction]:
    query = select(ChargeRow.mandate_id, func.sum(ChargeRow.debit)).where(
        col(ChargeRow.charged_at) > since, col(ChargeRow.refunded_at).is_(None)
    )
    return dict(session.exec(query.group_by(col(ChargeRow.mandate_id))).all())


def _states(session: Session, owner: str) -> dict[str, Counter[str]]:
    """Return the number of audits by owner and state."""
    query = select(owner, AuditRow.state, func.count()).group_by(col(owner), col(AuditRow.state))
    found: dict[str, Counter[str]] = {}
    for name, state, count in session.exec(query):
        found.setdefault(name, Counter())[state] = count
    return found


def _auditor(
    row: AuditorRow, mandates: list[MandateOverview], figures: _Figures
) -> AuditorOverview:
    return AuditorOverview.model_validate(
        {
            "id": row.id,
            "name": row.name,
            "researchers": figures.researchers.get(row.id, 0),
            "mandates": mandates,
            "audits": figures.by_auditor.get(row.id, {}),
            "refusals": figures.refusals.get(row.id, 0),
        }
    )


def _mandate(session: Session, row: MandateRow, figures: _Figures, at: datetime) -> MandateOverview:
    month = figures.month.get(row.id, Fraction(0))
    lifetime = row.lifetime_limit
    return MandateOverview.model_validate(
        row.model_dump(include={"id", "purpose", "kinds", "state", "valid_from", "valid_until"})
        | {
            "currency": row.currency,
            "limit": as_decimal(row.limit),
            "renewal": renewal_of(row),
            "lifetime_limit": None if lifetime is None else as_decimal(lifetime),
            "spent": as_decimal(row.spent),
            "remaining": as_decimal(max(Fraction(0), budgets.load_remaining(session, row, at))),
            "spent_7_days": as_decimal(figures.week.get(row.id, Fraction(0))),
            "spent_30_days": as_decimal(month),
            "exhausted_on": forecast_exhaustion(row, month, at),
            "audits": figures.by_mandate.get(row.id, {}),
        }
    )


def _platform(session: Session, settings: Settings, at: datetime) -> PlatformWindow:
    account = session.exec(select(PlatformAccountRow)).one()
    window = max(number_of_window(at), account.window)
    spent = account.spent if account.window == window else Fraction(0)
    length = timedelta(days=PLATFORM_WINDOW_DAYS)
    return PlatformWindow(
        limit=settings.platform_rho,
        spent=as_decimal(spent),
        remaining=as_decimal(Fraction(settings.platform_rho) - spent),
        begins=EPOCH + window * length,
        ends=EPOCH + (window + 1) * length,
    )
