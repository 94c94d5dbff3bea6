"""Push loop: delivers entries at least once and in order, and retries failures for up to a day.

The ledger is the queue, and a row states the progress of each webhook. So entries are pushed after
a restart too. A process claims a webhook by moving its next attempt into the future, so that only
one of several processes pushes.
"""

import logging
import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import bindparam
from sqlmodel import Session, and_, col, select

from api.db import EntryRow, Store, WebhookRow
from api.identity.caller import load_caller
from api.identity.signing_keys import SigningKeys
from api.kernel.clock import now
from api.ledger.visibility import select_visible_entries
from api.webhooks.addresses import AddressError
from api.webhooks.delivery import DeliveryError, GoneError, Sender, headers_of

log = logging.getLogger(__name__)

CLAIM = timedelta(seconds=60)
# Entries per claim, so few that all attempts end well before the claim does.
AT_A_TIME = 4
THREADS = 8
# Time for which a rotated key signs in addition to the new one, so that receivers can follow.
OVERLAP = timedelta(days=7)
_IS_DUE = and_(WebhookRow.state == "active", col(WebhookRow.next_at) <= bindparam("now"))
# Run very often, by every process; usually there is none.
_ANY = select(WebhookRow.id).where(_IS_DUE).limit(1)
_DUE = select(WebhookRow).where(_IS_DUE).limit(200)


@dataclass
class Pusher:
    store: Store
    keys: SigningKeys
    sender: Sender
    poll_seconds: float
    first_pause: timedelta = timedelta(seconds=2)
    longest_pause: timedelta = timedelta(hours=1)
    patience: timedelta = timedelta(days=1)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, stop: threading.Event) -> None:
        """Push until `stop` is set."""
        self.stop = stop
        if self.sender.private:
            log.warning("webhooks.private_hosts_allowed")
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="webhook")
        under_way: dict[str, Future[int]] = {}
        while not stop.wait(self.poll_seconds):
            try:
                under_way = {name: each for name, each in under_way.items() if not each.done()}
                for webhook_id in self.due():
                    if webhook_id not in under_way:
                        under_way[webhook_id] = pool.submit(self._safely, webhook_id)
            except Exception:  # the next round may succeed
                log.exception("webhooks.error")
        pool.shutdown(cancel_futures=True)

    def push(self, webhook_id: str) -> int:
        """Push the waiting entries of one webhook; return the number of accepted ones."""
        claimed = self._claim(webhook_id)
        if claimed is None:
            return 0
        webhook, entries = claimed
        for done, entry in enumerate(entries):
            if self.stop.is_set():
                return done
            try:
                self._send(webhook, entry)
            except (AddressError, DeliveryError) as error:
                self._fail(webhook.id, str(error), gone=isinstance(error, GoneError))
                return done
            self._succeed(webhook.id, entry.number)
        return len(entries)

    def _safely(self, webhook_id: str) -> int:
        try:
            return self.push(webhook_id)
        except Exception:  # it stays claimed, and is tried again when the claim has ended
            log.exception("webhooks.error")
            return 0

    def due(self) -> list[str]:
        """Return the webhooks with entries to push now."""
        asked = {"now": now()}
        with self.store.autocommit_connection() as connection:
            if connection.execute(_ANY, asked).first() is None:
                return []
        with self.store.autocommit_session() as session:
            rows = session.exec(_DUE, params=asked).all()
            return [row.id for row in rows if _entries(session, row, 1)]

    def _claim(self, webhook_id: str) -> tuple[WebhookRow, Sequence[EntryRow]] | None:
        query = select(WebhookRow).where(
            WebhookRow.id == webhook_id,
            WebhookRow.state == "active",
            col(WebhookRow.next_at) <= now(),
        )
        with self.store.write() as session:
            row = session.exec(query.with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            row.next_at = now() + CLAIM
            session.add(row)
            return row, _entries(session, row, AT_A_TIME)

    def _send(self, webhook: WebhookRow, entry: EntryRow) -> None:
        body = entry.text.encode()
        keys = self.keys.overlapping("receipt", OVERLAP)
        headers = headers_of(webhook.id, entry.number, body, keys, int(time.time()))
        self.sender.post(webhook.url, body, headers)

    def _succeed(self, webhook_id: str, number: int) -> None:
        with self.store.write() as session:
            if row := _locked(session, webhook_id):
                row.after = max(row.after, number)
                row.failures, row.failing_since, row.next_at = 0, None, now()
                session.add(row)

    def _fail(self, webhook_id: str, reason: str, *, gone: bool) -> None:
        with self.store.write() as session:
            row = _locked(session, webhook_id)
            if row is None:
                return
            row.failing_since = row.failing_since or now()
            if gone or now() - row.failing_since >= self.patience:
                row.state = "given-up"
            row.next_at = now() + self._pause(row.failures)
            row.failures += 1
            session.add(row)
        log.warning("webhook.failed", extra={"webhook": webhook_id, "error": reason})

    def _pause(self, failures: int) -> timedelta:
        """Return a pause that doubles each time, with some randomness."""
        longer = self.first_pause * int(2 ** min(failures, 20))
        return min(longer, self.longest_pause) * (1 + secrets.randbelow(256) / 1024)


def _entries(session: Session, webhook: WebhookRow, limit: int) -> Sequence[EntryRow]:
    caller = load_caller(session, webhook.researcher_id)
    if caller is None:  # removed
        return []
    query = select_visible_entries(caller).where(col(EntryRow.number) > webhook.after)
    return session.exec(query.order_by(col(EntryRow.number)).limit(limit)).all()


def _locked(session: Session, webhook_id: str) -> WebhookRow | None:
    query = select(WebhookRow).where(WebhookRow.id == webhook_id).with_for_update()
    return session.exec(query).first()
