"""The service with a mistake in it: each must make the harness report a violation.

A mutant is applied in the process that serves, before it serves.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, select

from api import ledger
from api.accounting import charge as charging
from api.accounting import lifetime_caps, memberships, platform_budget
from api.accounting.charge import ChargeOrder
from api.audits import job, publication
from api.audits.job import AuditJob
from api.audits.pricing import load_audience_facts
from api.audits.publication import FinishedRun
from api.audits.queue import leases
from api.audits.queue.background_batcher import BackgroundBatcher
from api.audits.queue.exploration_journal import AuditJournal
from api.audits.queue.worker import Worker
from api.contents.service import load_contents
from api.db import AudienceRow, AuditRow, EntryRow, MandateRow, Store, insert
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.ledger import Draft
from openapi.resources import REQUEST, Price
from privacy.tables.membership import Membership

Mutate = Callable[[dict[str, Any]], None]


def commit_midway(session: Session) -> None:
    """Two transactions, one right after the other."""
    session.commit()
    session.connection(execution_options={"writes": True})


def charge_in_two_transactions(_: dict[str, Any]) -> None:
    """The limits are debited, and committed, before the charge is written."""
    whole = platform_budget.debit

    def torn(session: Session, *arguments: Any) -> None:
        whole(session, *arguments)
        commit_midway(session)

    put(platform_budget, "debit", torn)


def entry_in_its_own_transaction(_: dict[str, Any]) -> None:
    """The charge is committed before its ledger entry."""
    append = ledger.append_all

    def torn(session: Session, drafts: Sequence[Draft], **options: Any) -> list[EntryRow]:
        if any(draft.kind == "charge" for draft in drafts):
            commit_midway(session)
        return append(session, drafts, **options)

    put(ledger, "append_all", torn)


def charge_after_the_answer(settings: dict[str, Any]) -> None:
    """An audit is charged when it is released, and its worker does not ask for a charge."""
    charge = charging.charge
    commit = Worker._commit

    asked: dict[str, ChargeOrder] = {}

    def later(_: Session, at: datetime, bills: Sequence[ChargeOrder], *__: Any) -> None:
        asked.update({bill.audit.id: bill for bill in bills})

    def commit_and_charge(worker: Worker, some: Sequence[FinishedRun]) -> None:
        commit(worker, some)
        for made in some:
            with worker.store.write() as session:
                at = ledger.lock(session)
                mandate = session.get_one(MandateRow, made.audit.mandate_id)
                bill = replace(asked[made.audit.id], mandate=mandate)
                charge(session, at, [bill], Settings(**settings))

    def without_a_charge(
        session: Session, audit: AuditRow, _: Settings
    ) -> tuple[AuditJob, Membership]:
        request = REQUEST.validate_json(audit.request)
        price = Price.model_validate_json(audit.price)
        audience = session.get_one(AudienceRow, audit.audience_id)
        contents, facts = (
            load_contents(session, request.content_ids),
            load_audience_facts(session, audience),
        )
        made = AuditJob(audit, request, price, contents, audience, facts)
        return made, memberships.load_charged_members(session, audit.id, audience)[0]

    put(charging, "charge", later)
    put(job, "load_job", without_a_charge)
    put(Worker, "_commit", commit_and_charge)


def lease_without_end(_: dict[str, Any]) -> None:
    """Audits claimed by a dead worker are never claimed again."""
    put(leases, "lease_expiry", lambda _: now() + timedelta(minutes=9))


def releases_after_their_audits_end(_: dict[str, Any]) -> None:
    """Audits end, and that is committed, before their releases are written."""

    def torn(session: Session, *rows: Any) -> None:
        commit_midway(session)
        insert(session, *rows)

    put(publication, "insert", torn)


def noise_drawn_again(settings: dict[str, Any]) -> None:
    """Releases do not survive a restart: they are made anew."""
    store = Store(settings["database_url"])
    with store.write() as session:
        session.execute(text("DELETE FROM releases"))
        session.execute(text("UPDATE audits SET state = 'charged' WHERE state = 'released'"))
    store.close()


def everybody_is_scored(_: dict[str, Any]) -> None:
    """People who cannot bear an audit are not charged, and scored all the same."""
    put(lifetime_caps, "record_exclusions", lambda *_: None)


def keys_are_forgotten(settings: dict[str, Any]) -> None:
    """After a restart, no idempotency key is known."""
    store = Store(settings["database_url"])
    with store.write() as session:
        for row in session.exec(select(AuditRow)):
            row.idempotency_key = f"{row.idempotency_key}-forgotten"
            session.add(row)
        session.execute(text("DELETE FROM statements"))
    store.close()


def refund_without_the_people(_: dict[str, Any]) -> None:
    """A refund gives the mandate its epsilon back and leaves the people charged."""
    put(lifetime_caps, "refund", lambda *_, **__: None)


def steps_are_not_written_down(_: dict[str, Any]) -> None:
    """An audit that explores begins anew after a crash, with other arms."""
    put(AuditJournal, "write", lambda *_: None)


def releases_in_threes(_: dict[str, Any]) -> None:
    """No mistake: releases wait a while for each other, so that they are committed together."""
    take = BackgroundBatcher._next

    def patient(self: BackgroundBatcher[Any]) -> list[Any]:
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) > 2 or self._ends, timeout=10)
        return take(self)

    put(BackgroundBatcher, "_next", patient)


def put(where: object, name: str, wrong: object) -> None:
    getattr(where, name)  # a mistake is made where the code is
    setattr(where, name, wrong)


MUTANTS: dict[str, Mutate] = {
    mutant.__name__: mutant
    for mutant in (
        charge_in_two_transactions,
        entry_in_its_own_transaction,
        charge_after_the_answer,
        lease_without_end,
        releases_after_their_audits_end,
        noise_drawn_again,
        everybody_is_scored,
        keys_are_forgotten,
        refund_without_the_people,
        steps_are_not_written_down,
    )
}
HABITS: dict[str, Mutate] = {releases_in_threes.__name__: releases_in_threes}
