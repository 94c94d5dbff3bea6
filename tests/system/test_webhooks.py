"""Webhooks of a running service: pushed, signed, tried again, given up; never to private hosts."""

import base64
import json
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from sqlmodel import col, delete, null, select

from api.db import SigningKeyRow, WebhookRow
from api.kernel.clock import now
from api.ledger.key_rotation import rotate
from api.platforms.interfaces import Platform
from api.webhooks import addresses
from api.webhooks.delivery import Sender
from api.webhooks.push_loop import OVERLAP, Pusher
from auditor_client.errors import ConflictError, NotFoundError, RequestError, TrustError
from auditor_client.transport.webhooks import verify_webhook
from openapi.resources import Webhook
from tests.receivers import Received, Receiver, receiving
from tests.refusals import refuses
from tests.system.raw import raw, refused
from tests.vetting import new_key
from tests.world import Deployment, deployed


@pytest.fixture(scope="module")
def open_host(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """Webhooks may lead to this machine, which is for tests alone."""
    with deployed(new_database(), platform, webhook_private_hosts=True) as running:
        yield running


@pytest.fixture
def host(open_host: Deployment) -> Deployment:
    with open_host.service.store.write() as session:
        session.exec(delete(WebhookRow))
    return open_host


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def entry_of(received: Received) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(received.body)
    return made


def pusher(deployment: Deployment, **options: Any) -> Pusher:
    """One that a test turns by hand, while the service's own is at work as well."""
    service = deployment.service
    return Pusher(service.store, service.auth.keys, Sender(private=True), 1.0, **options)


def asleep(deployment: Deployment, webhook: Webhook, **fields: Any) -> None:
    """Keep the service's own hands off, and set what a test needs."""
    with deployment.service.store.write() as session:
        row = session.get_one(WebhookRow, webhook.id)
        row.next_at = now() + timedelta(days=400)
        row.sqlmodel_update(fields)
        session.add(row)


def row_of(deployment: Deployment, webhook: Webhook) -> WebhookRow:
    with deployment.service.store.read() as session:
        return session.get_one(WebhookRow, webhook.id)


def row_with(deployment: Deployment, webhook: Webhook, failures: int) -> WebhookRow:
    """Wait for the row with this number of deliveries."""
    deadline = time.monotonic() + 10
    while (row := row_of(deployment, webhook)).failures < failures:
        assert time.monotonic() < deadline, row
        time.sleep(0.01)
    return row


def test_a_regulator_gets_every_entry_signed_and_in_order(
    host: Deployment, receiver: Receiver
) -> None:
    regulator = host.regulator
    receipts = regulator.ledger.keys().receipts  # made, and told in the ledger, when first asked
    webhook = regulator.webhooks.add(receiver.url)
    assert (webhook.state, webhook.failures) == ("active", 0)
    names = [f"Lab {number}" for number in range(6)]
    made = [regulator.auditors.add(name) for name in names]
    received = receiver.wait(6)
    assert [entry_of(each)["facts"]["auditor_id"] for each in received] == [a.id for a in made]
    assert [entry_of(each)["statement"]["body"]["name"] for each in received] == names
    for each in received:
        verify_webhook(each.body, each.headers, webhook.public_key)
        assert each.headers["webhook-id"] == f"{webhook.id}-{entry_of(each)['number']}"
    # The body is the entry's very bytes, and the key is the one that signs receipts.
    shown = {entry.number: entry for entry in regulator.ledger.entries()}
    assert all(shown[entry_of(each)["number"]].kind == "auditor" for each in received)
    assert webhook.public_key == whpk(receipts[0])


def whpk(jwk: dict[str, Any]) -> str:
    raw_key = OKPKey.import_key(jwk).public_key.public_bytes_raw()
    return f"whpk_{base64.b64encode(raw_key).decode()}"


def test_a_receiver_follows_the_key_across_a_rotation(host: Deployment, receiver: Receiver) -> None:
    """The old key vouches for the new one, whose entry is pushed like any other."""
    service = host.service
    webhook = host.regulator.webhooks.add(receiver.url)
    rotate(service.store, service.auth.keys, service.origin, host.operator_id)
    host.regulator.auditors.add(f"Lab {secrets.token_hex(3)}")
    *told, after = receiver.wait(4)
    for each in told:
        verify_webhook(each.body, each.headers, webhook.public_key)
    [new] = [
        whpk(entry_of(each)["facts"]["jwk"])
        for each in told
        if entry_of(each)["facts"]["purpose"] == "receipt"
    ]
    assert new == host.regulator.webhooks.list()[0].public_key != webhook.public_key
    for key in (webhook.public_key, new):
        verify_webhook(after.body, after.headers, key)
    with refuses(TrustError, "wrong-signature"):
        verify_webhook(after.body, after.headers, whpk(new_key().as_dict(private=False)))


def test_a_key_signs_no_more_a_week_after_its_rotation(
    host: Deployment, receiver: Receiver
) -> None:
    service = host.service
    webhook = host.regulator.webhooks.add(receiver.url)
    asleep(host, webhook)
    rotate(service.store, service.auth.keys, service.origin, host.operator_id)
    with service.store.write() as session:
        for row in session.exec(
            select(SigningKeyRow).where(col(SigningKeyRow.retired_at) != null())
        ):
            row.retired_at = now() - OVERLAP
            session.add(row)
    service.auth.keys.refresh()
    asleep(host, webhook, next_at=now())
    pusher(host).push(webhook.id)
    first = receiver.wait(1)[0]
    assert len(first.headers["webhook-signature"].split()) == 1
    with refuses(TrustError, "wrong-signature"):
        verify_webhook(first.body, first.headers, webhook.public_key)


def test_an_auditor_gets_its_own_entries_and_no_others(
    host: Deployment, receiver: Receiver
) -> None:
    auditor = host.auditor()
    auditor_id = auditor.budget().mandates[0].auditor_id
    auditor.webhooks.add(receiver.url)
    host.auditor()  # another's
    host.grant(auditor_id, "1")
    host.regulator.mandates.suspend(auditor.budget().mandates[0].id, "looked into")
    received = [entry_of(each) for each in receiver.wait(2)]
    assert [entry["kind"] for entry in received] == ["mandate", "suspension"]
    assert {entry["auditor"] for entry in received} == {auditor_id}


def test_what_is_past_can_be_asked_for(host: Deployment, receiver: Receiver) -> None:
    host.regulator.webhooks.add(receiver.url, after=-1)
    received = [entry_of(each)["number"] for each in receiver.wait(8)]
    assert received[:8] == list(range(8))


def test_what_nobody_took_is_tried_again_with_the_same_id(
    host: Deployment, receiver: Receiver
) -> None:
    receiver.status = lambda number: 500 if number == 0 else 204
    webhook = host.regulator.webhooks.add(receiver.url)
    host.regulator.auditors.add(f"Lab {secrets.token_hex(3)}")
    first, second = receiver.wait(2)[:2]
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    verify_webhook(second.body, second.headers, webhook.public_key)


def test_pauses_grow_and_the_queue_survives_a_restart(host: Deployment, receiver: Receiver) -> None:
    receiver.status = lambda _: 503
    webhook = host.regulator.webhooks.add(receiver.url)
    asleep(host, webhook)
    host.regulator.auditors.add("Lab")
    first = pusher(host)
    pauses = []
    for failures in range(1, 5):
        asleep(host, webhook, next_at=now())
        # The service's own may come first: then there is nothing to claim, and the count is its.
        first.push(webhook.id)
        row = row_with(host, webhook, failures)
        pauses.append(row.next_at - now())
        if row.failures != failures:
            break
    assert all(later > earlier for earlier, later in pairwise(pauses))
    assert row_of(host, webhook).state == "active"
    # Another process, after a restart: what was not taken is still to come.
    receiver.status = lambda _: 204
    asleep(host, webhook, next_at=now())
    pusher(host).push(webhook.id)
    receiver.wait(len(pauses) + 1)
    until = receiver.received[-1]
    assert entry_of(until)["kind"] == "auditor"


def test_after_a_day_it_is_given_up(host: Deployment, receiver: Receiver) -> None:
    receiver.status = lambda _: 500
    webhook = host.regulator.webhooks.add(receiver.url)
    asleep(host, webhook)
    host.regulator.auditors.add("Lab")
    hours = timedelta(hours=23, minutes=59)
    asleep(host, webhook, next_at=now(), failing_since=now() - hours)
    pusher(host).push(webhook.id)
    receiver.wait(1)
    assert eventually(lambda: row_of(host, webhook).failures == 1)
    assert row_of(host, webhook).state == "active"
    asleep(host, webhook, next_at=now(), failing_since=now() - timedelta(days=1))
    pusher(host).push(webhook.id)
    assert eventually(lambda: row_of(host, webhook).state == "given-up")
    [shown] = host.regulator.webhooks.list()
    assert (shown.state, shown.after) == ("given-up", webhook.after)
    count = len(receiver.received)
    asleep(host, webhook, next_at=now())
    assert pusher(host).push(webhook.id) == 0
    assert len(receiver.received) == count
    # It is registered again from where it was.
    receiver.status = lambda _: 204
    host.regulator.webhooks.delete(webhook.id)
    host.regulator.webhooks.add(receiver.url, after=shown.after)
    receiver.wait(count + 1)


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + 15
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_a_receiver_that_is_gone_is_left_alone_at_once(
    host: Deployment, receiver: Receiver
) -> None:
    receiver.status = lambda _: 410
    webhook = host.regulator.webhooks.add(receiver.url)
    host.regulator.auditors.add("Lab")
    receiver.wait(1)
    assert eventually(lambda: row_of(host, webhook).state == "given-up")


def test_of_two_processes_one_pushes(host: Deployment, receiver: Receiver) -> None:
    webhook = host.regulator.webhooks.add(receiver.url)
    asleep(host, webhook)
    host.regulator.auditors.add("Lab")
    assert pusher(host).push(webhook.id) == 0  # claimed by somebody else
    assert webhook.id not in pusher(host).due()
    assert receiver.received == []


def test_one_that_does_not_answer_does_not_hold_up_the_others(
    host: Deployment, receiver: Receiver
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host.regulator.webhooks.add(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        host.regulator.webhooks.add(receiver.url)
        for _ in range(2):
            host.regulator.auditors.add("Lab")
        receiver.wait(2, seconds=8)


def test_a_removed_person_gets_nothing_more(host: Deployment, receiver: Receiver) -> None:
    auditor = host.auditor()
    auditor_id = auditor.budget().mandates[0].auditor_id
    webhook = auditor.webhooks.add(receiver.url)
    asleep(host, webhook)
    host.regulator.researchers.remove(auditor.me().id, "left")
    host.grant(auditor_id, "1")
    asleep(host, webhook, next_at=now())
    assert pusher(host).push(webhook.id) == 0
    assert receiver.received == []


def test_webhooks_are_ones_own_and_few(host: Deployment, receiver: Receiver) -> None:
    auditor, other = host.auditor(), host.auditor()
    made = [auditor.webhooks.add(f"{receiver.url}&n={n}") for n in range(5)]
    assert [each.id for each in auditor.webhooks.list()] == [each.id for each in made][::-1]
    with refuses(ConflictError, "too-many-webhooks", 5):
        auditor.webhooks.add(receiver.url)
    assert other.webhooks.list() == []
    with pytest.raises(NotFoundError):
        other.webhooks.delete(made[0].id)
    auditor.webhooks.delete(made[0].id)
    with pytest.raises(NotFoundError):
        auditor.webhooks.delete(made[0].id)
    assert len(auditor.webhooks.list()) == 4


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::ffff:169.254.169.254]/",
        "https://2130706433/",
        "https://user@hooks.example.org/",
        "https://hooks.example.org/#x",
    ],
)
def test_private_hosts_are_refused_unless_it_is_set(
    sqlite_deployment: Deployment, url: str
) -> None:
    with pytest.raises(RequestError):
        sqlite_deployment.regulator.webhooks.add(url)
    assert sqlite_deployment.regulator.webhooks.list() == []


def test_a_name_that_resolves_to_a_private_host_is_never_connected_to(
    sqlite_deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registration cannot judge a name, so each delivery checks the address that it resolves to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        monkeypatch.setattr(addresses, "_PORTS", (443, port))
        webhook = sqlite_deployment.regulator.webhooks.add(f"https://hooks.example.org:{port}/")
        asleep(sqlite_deployment, webhook)
        sqlite_deployment.regulator.auditors.add("Lab")
        info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
        real = socket.getaddrinfo

        def lying(host: Any, *args: Any, **options: Any) -> Any:
            return [info] if host == "hooks.example.org" else real(host, *args, **options)

        monkeypatch.setattr(socket, "getaddrinfo", lying)
        asleep(sqlite_deployment, webhook, next_at=now())
        sqlite_deployment.service.pusher().push(webhook.id)
        assert eventually(lambda: row_of(sqlite_deployment, webhook).failures >= 1)
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
        sqlite_deployment.regulator.webhooks.delete(webhook.id)


def test_allowing_private_hosts_logs_a_warning(
    host: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    stop = threading.Event()
    stop.set()
    with caplog.at_level(logging.WARNING):
        pusher(host).run(stop)
    assert "webhooks.private_hosts_allowed" in caplog.messages


@pytest.mark.parametrize("bad", [{"url": "x" * 501}, {"url": ""}, {}, {"after": -2}, {"to": "me"}])
def test_a_bad_webhook_is_refused(host: Deployment, bad: dict[str, Any]) -> None:
    me = raw(host, host.regulator)
    body = {"url": "https://hooks.example.org/"} | bad if bad else bad
    refused(me.post("/v1/webhooks", body), "invalid-request")
