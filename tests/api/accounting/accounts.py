"""A real SQLite with one auditor, some mandates and some audiences, and a clock to turn."""

import atexit
import base64
import secrets
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from joserfc.jwk import OKPKey
from sqlalchemy import event
from sqlmodel import Session, select

from api.accounting import balance_blocks
from api.accounting import charge as charging
from api.accounting.memberships import load_charged_members, load_membership
from api.accounting.platform_budget import number_of_window
from api.accounting.prices import exact_price
from api.audiences.erasure import erase
from api.db import (
    AudienceRow,
    AuditorRow,
    AuditRow,
    ChargeRow,
    GroupRow,
    LedgerEndRow,
    MandateRow,
    PersonBlockRow,
    PlatformAccountRow,
    Store,
)
from api.db.types import as_decimal
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import entries
from api.mandates import budgets
from api.mandates import service as mandates
from api.operations.reconciliation import inspect
from api.operations.setup import register_first
from openapi.resources import Price
from tests.api.accounting import model
from tests.databases import prepare
from tests.statements import Maker

# A multiple of thirty days since 1970, and twenty days: the platform's window ends in ten.
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=30 * 680 + 20)
MAKER = Maker("researcher_" + "0" * 30)


@cache
def template() -> tuple[Path, str, str]:
    """A migrated database with a regulator and an auditor, whose identifiers are given."""
    folder = Path(tempfile.mkdtemp(prefix="accounting-"))
    atexit.register(shutil.rmtree, folder)
    path = folder / "template.sqlite"
    store = Store(f"sqlite:///{path}")
    prepare(store)
    key = OKPKey.generate_key("Ed25519").as_dict(private=False)
    with at_time(lambda: -10_000):
        regulator_id = register_first(store, "regulator", key)
    auditor = AuditorRow(id=new_id("auditor"), name="Lab", created_at=BEGINNING)
    with store.write() as session:
        session.add(auditor)
    store.close()
    return path, regulator_id, auditor.id


@dataclass
class Accounts:
    """The accounts of the service, with the operations of the model."""

    store: Store
    settings: Settings
    researcher_id: str
    auditor_id: str
    folder: Path

    @classmethod
    def open(cls, platform_limit: Fraction, person_cap: Fraction) -> "Accounts":
        folder = Path(tempfile.mkdtemp(prefix="accounting-"))
        prepared, regulator_id, auditor_id = template()
        path = folder / "accounts.sqlite"
        shutil.copy(prepared, path)
        store = Store(f"sqlite:///{path}")
        event.listen(store.engine, "connect", _hurry)
        settings = Settings(
            database_url=store.url,
            issuer="http://127.0.0.1:9",
            key_encryption_key=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            platform_rho=as_decimal(platform_limit),
            person_lifetime_rho=as_decimal(person_cap),
        )
        return cls(store, settings, regulator_id, auditor_id, folder)

    def close(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def grant(self, mandate: model.Mandate) -> None:
        row = MandateRow(
            epsilon_limit=mandate.limit if mandate.currency == "epsilon" else None,
            rho_limit=mandate.limit if mandate.currency == "rho" else None,
            id=mandate.name,
            auditor_id=self.auditor_id,
            granted_by=self.researcher_id,
            purpose="test",
            kinds=["score-histogram"],
            renewal=mandate.renewal,
            renewal_days=mandate.days or None,
            lifetime_limit=mandate.lifetime,
            spent=Fraction(0),
            period_spent=Fraction(0),
            valid_from=instant(mandate.begins),
            valid_until=instant(mandate.ends),
            created_at=BEGINNING,
        )
        with self.store.write() as session:
            session.add(row)

    def seal(
        self,
        name: str,
        groups: Mapping[str, set[int]],
        groups_per_person: int,
        source: str = "sample",
        uploaded: int = 0,
    ) -> None:
        """Seal an audience: the number of identifiers per group, and the people found."""
        row = AudienceRow(
            id=name,
            auditor_id=self.auditor_id,
            researcher_id=self.researcher_id,
            state="sealed",
            source=source,
            groups_per_person=groups_per_person,
            commitment="sha256:" + "0" * 64,
            created_at=BEGINNING,
            expires_at=BEGINNING + timedelta(days=10_000),
        )
        with self.store.write() as session:
            session.add(row)
            session.flush()
            for label, people in groups.items():
                packed = np.array(sorted(people), "<i8").tobytes()
                group = GroupRow(audience_id=name, label=label, members=uploaded, people=packed)
                session.add(group)

    def charge(self, audience: str, cost: model.Cost, mandate_id: str | None) -> str:
        """The steps of a submission that have to do with money; the audit's identifier."""
        price = _price(cost)
        with self.store.write() as session:
            at = entries.lock(session)
            granted = mandates.load_for_auditors(session, [self.auditor_id], lock=True)[
                self.auditor_id
            ]
            mandate = mandates.select_payer(
                session, granted, "score-histogram", exact_price(price), mandate_id, at
            )
            price = price.model_copy(update={"currency": mandate.currency})
            audit = self._audit(mandate, audience, price, at)
            session.add(audit)
            session.flush()
            whom = session.get_one(AudienceRow, audience)
            asked = MAKER.states("charge", {"kind": audit.kind, "audience_id": audience})
            bill = charging.ChargeOrder(audit, mandate, whom, [], price, asked)
            charging.charge(session, at, [bill], self.settings)
        return audit.id

    def refund(self, audit_id: str) -> None:
        with self.store.write() as session:
            at = entries.lock(session)
            row = session.exec(select(ChargeRow).where(ChargeRow.audit_id == audit_id)).one()
            charging.refund(session, at, row, self.settings)
            self._end(session, audit_id, "cancelled")

    def release(self, audit_id: str) -> None:
        with self.store.write() as session:
            self._end(session, audit_id, "released")

    def erase(self, audience: str) -> None:
        with self.store.write() as session:
            erase(session, session.get_one(AudienceRow, audience))

    def _end(self, session: Session, audit_id: str, state: str) -> None:
        audit = session.get_one(AuditRow, audit_id)
        audit.state = state
        session.add(audit)

    def _audit(self, mandate: MandateRow, audience: str, price: Price, at: datetime) -> AuditRow:
        return AuditRow(
            id=new_id("audit"),
            auditor_id=self.auditor_id,
            researcher_id=self.researcher_id,
            mandate_id=mandate.id,
            audience_id=audience,
            kind="score-histogram",
            state="charged",
            request="{}",
            price=price.model_dump_json(),
            idempotency_key=secrets.token_hex(8),
            request_digest="sha256:" + "0" * 64,
            submitted_at=at,
        )

    # --- questions

    def mandate(self, name: str, at: int) -> tuple[Fraction, Fraction]:
        """Return what was spent and what remains."""
        with self.store.read() as session:
            row = session.get_one(MandateRow, name)
            return row.spent, budgets.load_remaining(session, row, instant(at))

    def platform(self) -> tuple[int, Fraction, int]:
        """Return the window's number in the model, its spending, and the ledger's time."""
        with self.store.read() as session:
            account = session.exec(select(PlatformAccountRow)).one()
            latest = session.exec(select(LedgerEndRow)).one().latest
        hours = (latest - BEGINNING) // timedelta(hours=1)
        window = number_of_window(latest)
        assert account.window <= window
        spent = account.spent if account.window == window else Fraction(0)
        return window - 681, spent, hours

    def balances(self) -> dict[int, Fraction]:
        with self.store.read() as session:
            rows = session.exec(select(PersonBlockRow)).all()
        return {
            row.number * balance_blocks.BLOCK + place: Fraction(int(spent), 10**12)
            for row in rows
            for place, spent in enumerate(balance_blocks.unpack([row.spent])[0])
            if spent
        }

    def bearers(self, audit_id: str) -> set[int]:
        with self.store.read() as session:
            audience = session.get_one(AudienceRow, session.get_one(AuditRow, audit_id).audience_id)
            everyone = load_charged_members(session, audit_id, audience)[0].everyone()
        assert len(everyone) == len(set(everyone.tolist()))
        return set(everyone.tolist())

    def everyone(self, audience: str) -> set[int]:
        with self.store.read() as session:
            row = session.get_one(AudienceRow, audience)
            return set(load_membership(session, row).membership.everyone().tolist())

    def sound(self) -> bool:
        return inspect(self.store, Fraction(self.settings.person_lifetime_rho)).sound


def instant(hours: int) -> datetime:
    return BEGINNING + timedelta(hours=hours)


def at_time(read: Callable[[], int]) -> Any:
    """Set the clock of the ledger while the block runs."""
    return patch.object(entries, "now", lambda: instant(read()))


def _price(cost: model.Cost) -> Price:
    def both(amount: Fraction) -> dict[str, Any]:
        return {"add_remove": as_decimal(Fraction(0)), "change_one": as_decimal(amount)}

    return Price.model_validate(
        {
            "epsilon": both(cost.epsilon) if cost.epsilon is not None else None,
            "rho": both(cost.rho),
            "currency": "rho",
            "debit": "0",
            "parts": [],
        }
    )


def _hurry(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")
