"""Platform's account: the limit of all audits together in one window."""

from datetime import datetime, timedelta
from fractions import Fraction

from sqlalchemy import Integer, bindparam, case, literal
from sqlmodel import Session, col, update

from api.db import PlatformAccountRow
from api.db.types import Pico
from api.kernel.clock import EPOCH
from api.kernel.errors import PlatformExhaustedError
from api.kernel.hard_limits import PLATFORM_WINDOW_DAYS
from api.kernel.settings import Settings

_WINDOW, _SPENT = col(PlatformAccountRow.window), col(PlatformAccountRow.spent)
_NUMBER = bindparam("number", type_=Integer)
_RHO, _LIMIT = bindparam("rho", type_=Pico), bindparam("limit", type_=Pico)
# Account and spent amount of the window with this number. A past window never opens again.
_LATER = case((_WINDOW < _NUMBER, _NUMBER), else_=_WINDOW)
_THEN = case((_WINDOW < _NUMBER, literal(Fraction(0), Pico)), else_=_SPENT) + _RHO
_DEBIT = update(PlatformAccountRow).where(_THEN <= _LIMIT).values(window=_LATER, spent=_THEN)
_REFUND = update(PlatformAccountRow).where(_WINDOW == _NUMBER).values(spent=_SPENT - _RHO)


def number_of_window(at: datetime) -> int:
    """Return the number of the platform's window at an instant."""
    return (at - EPOCH) // timedelta(days=PLATFORM_WINDOW_DAYS)


def debit(session: Session, at: datetime, rho: Fraction, settings: Settings) -> None:
    """Debit the account, or raise `PlatformExhaustedError`."""
    asked = {"number": number_of_window(at), "rho": rho, "limit": Fraction(settings.platform_rho)}
    if session.connection().execute(_DEBIT, asked).rowcount != 1:
        raise PlatformExhaustedError(
            f"All audits together may cost {settings.platform_rho} of rho in "
            f"{PLATFORM_WINDOW_DAYS} days. Nothing was charged. Try again in the next window."
        )


def refund(session: Session, charged_at: datetime, rho: Fraction) -> None:
    """Refund a charge in its window, if that window is still the current one."""
    session.connection().execute(_REFUND, {"number": number_of_window(charged_at), "rho": rho})
