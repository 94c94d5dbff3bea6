"""Pages for operators only: health, queue, traffic, keys, rules and models."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

import httpx2
import pytest
from playwright.sync_api import Browser, expect
from sqlmodel import col, select

from api.audits.queue.heartbeats import SILENCE, Heartbeat, list_processes
from api.db import AuditRow, EntryRow, ProcessRow, Store
from api.db.schema import list_revisions
from api.health.privacy_settings import MEANINGS, list_privacy_settings
from api.health.probes import check_health
from api.health.queue_status import read_queue_status
from api.kernel.clock import now
from api.ledger.platform_changes import AFFECT_PRIVACY
from api.platforms.interfaces import Platform
from api.telemetry.metrics import ENDS
from api.telemetry.process_counters import Figures, RequestCounts
from auditor_client.vetting.client import Operator
from openapi.resources import KeyPurpose
from tests.console.browsing import Watched, watching
from tests.system.raw import raw, request_for, usernames
from tests.world import Deployment, deployed, sqlite_url

PAGES = (
    "/operator",
    "/operator/queue",
    "/operator/traffic",
    "/operator/keys",
    "/operator/privacy",
    "/operator/models",
)
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def running(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A service without a worker, so that what is submitted waits."""
    folder = tmp_path_factory.mktemp("operated")
    strict = {"embedded_worker": False, "person_lifetime_rho": 10}
    with deployed(sqlite_url(folder), platform, **strict) as made:
        yield made


@pytest.fixture(scope="module")
def operator(running: Deployment) -> Operator:
    made = Operator(running.url, running.operator_id, running.operator_key)
    return running.clients.enter_context(made)


@pytest.fixture(scope="module")
def on_duty(browser: Browser, running: Deployment, operator: Operator) -> Iterator[Watched]:
    with watching(browser, running.url) as watched:
        watched.sign_in(operator)
        yield watched


def store_of(running: Deployment) -> Store:
    return running.service.store


def submit(running: Deployment) -> str:
    me = raw(running, running.auditor())
    content = me.content(title=HOSTILE)
    platform = running.service.platform.people
    names = usernames(platform.world, 60)  # type: ignore[attr-defined]
    audience = me.audience({"g0": names[:30], "g1": names[30:]})
    return str(me.submit(request_for(content, audience)).json()["id"])


def test_an_operator_begins_at_health_and_sees_the_queue_move(
    on_duty: Watched, running: Deployment
) -> None:
    page = on_duty.open("")
    expect(page.get_by_role("heading", name="Health", level=1)).to_be_visible()
    expect(page.get_by_role("row", name="Workers")).to_contain_text("platform-auditor worker")
    audit = submit(running)
    page = on_duty.open("/operator/queue")
    expect(page.get_by_role("row", name=audit)).to_contain_text("waiting")
    # Nobody loads the page: it looks again by itself, every few seconds and when one comes back.
    page.evaluate("document.body.dataset.same = 'yes'")
    assert running.service.worker().run_one()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_text("Nothing waits and nothing runs.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Released1 audits")
    assert page.evaluate("document.body.dataset.same") == "yes"


def test_every_page_can_be_read_by_everybody(on_duty: Watched) -> None:
    """By axe-core, at 360 px, on paper; with and without light."""
    for number, path in enumerate(PAGES):
        page = on_duty.open(path)
        page.emulate_media(color_scheme="dark" if number % 2 else "light")
        on_duty.accessible()
        page.emulate_media(color_scheme="light")
        on_duty.picture(f"operator{path.removeprefix('/operator').replace('/', '-')}")
        on_duty.narrow()
        page.emulate_media(media="print")
        expect(page.get_by_role("navigation")).to_be_hidden()
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1000, "height": 800})


def test_keys_are_rotated_only_if_it_was_meant(on_duty: Watched, operator: Operator) -> None:
    page = on_duty.open("/operator/keys")
    in_use = page.locator(".state.well")
    before = in_use.count()
    # The browser asks for the tick; so does the service.
    page.locator("main form").evaluate("form => form.submit()")
    expect(page.get_by_text("tick the box")).to_be_visible()
    page = on_duty.open("/operator/keys")
    old = page.get_by_role("rowheader").all_inner_texts()
    page.get_by_label("Retire the keys in use").check()
    page.get_by_role("button", name="Rotate the keys").click()
    expect(page.get_by_role("cell", name="retired")).to_have_count(before)
    assert in_use.count() == len(get_args(KeyPurpose))
    assert set(old) < set(page.get_by_role("rowheader").all_inner_texts())
    # Nobody is signed out by it.
    assert operator.applications() == []
    on_duty.open("/operator")


def test_the_keys_page_does_not_advise_rotation_under_a_leaked_key(on_duty: Watched) -> None:
    page = on_duty.open("/operator/keys")
    note = page.locator("#key-encryption-key")
    expect(note.locator("strong")).to_contain_text("Do not rotate")
    expect(note.get_by_role("listitem")).to_have_count(3)
    # Nothing else on the page mentions that key as a reason to rotate.
    others = page.locator("main p:not(#key-encryption-key p)").all_inner_texts()
    assert not [text for text in others if "key-encryption" in text]


def test_nobody_else_sees_any_of_it(running: Deployment, browser: Browser) -> None:
    with watching(browser, running.url) as watched:
        page = watched.sign_in(running.auditor())
        for path in PAGES:
            answer = page.request.get(f"{running.url}/console{path}")
            assert answer.status == 403, path
        assert "Health" not in page.get_by_role("navigation").inner_text()
    for path in PAGES:
        assert httpx2.get(f"{running.url}/console{path}").status_code == 401


def test_pages_hold_no_person_score_or_group(on_duty: Watched, running: Deployment) -> None:
    """Nor what an outsider wrote: titles and names have no place there (R1, R8)."""
    with store_of(running).read() as session:
        names = {row.researcher_id for row in session.exec(select(AuditRow))}
    for path in PAGES:
        text = on_duty.open(path).content()
        assert "onerror" not in text
        assert not re.search(r"\bg[01]\b", on_duty.page.locator("main").inner_text())
        assert not any(name in text for name in names)


def test_what_another_process_tells_is_shown_as_text(on_duty: Watched, running: Deployment) -> None:
    """A second process: lost, of another version, and with a host that means harm."""
    seen = now() - SILENCE - timedelta(minutes=5)
    traffic = RequestCounts(requests=70, failed=7, timed=(*[0] * (len(ENDS) - 1), 70))
    row = ProcessRow(
        id="process_2", host=HOSTILE, pid=7, version="0.0", serves=True, works=True,
        started_at=seen, seen_at=seen, figures=Figures(total=traffic).model_dump(mode="json"),
    )  # fmt: skip
    with store_of(running).write() as session:
        session.add(row)
    page = on_duty.open("/operator")
    told, listed = page.get_by_role("row", name=f"{HOSTILE}:7").all()
    page.get_by_role("row", name="Processes watch not heard of").wait_for()
    expect(listed).to_contain_text("answers requests and runs audits")
    expect(listed).to_contain_text("70")
    expect(told).to_contain_text("Processes")
    assert page.locator("img").count() == 0
    on_duty.accessible()
    with store_of(running).write() as session:
        session.delete(session.get_one(ProcessRow, row.id))


def test_processes_tell_of_themselves_and_leave(running: Deployment, tmp_path: Path) -> None:
    store = store_of(running)
    httpx2.get(f"{running.url}/nowhere")
    second = Heartbeat(store, serves=False, works=True)
    second.write_row()
    with store.read() as session:
        found = list_processes(session)
        fit = check_health(session, running.service.store, running.service.settings)
    assert [(each.row.serves, each.row.works) for each in found] == [(True, False), (False, True)]
    assert found[1].figures.total.requests > 0
    assert next(check for check in fit.checks if check.name == "Workers").state == "well"
    second.delete_row()
    with store.read() as session:
        assert len(list_processes(session)) == 1


def test_figures_of_processes_add_up() -> None:
    one = RequestCounts(requests=3, refused=1, timed=(1, 3, *[3] * (len(ENDS) - 2)))
    other = RequestCounts(requests=1, failed=1, timed=(0, 0, *[1] * (len(ENDS) - 2)))
    both = one + other
    assert (both.requests, both.refused, both.failed) == (4, 1, 1)
    assert both.within(0.25) == ENDS[0]
    assert both.within(0.75) == ENDS[1]
    assert both.within(0.76) == ENDS[2]
    assert both - other == one
    assert RequestCounts().within(0.5) is None


def test_an_expired_lease_and_a_suspended_mandate_are_distinguished(running: Deployment) -> None:
    audit = submit(running)
    store = store_of(running)
    for state, claim, lease, status in (
        ("running", "x", timedelta(seconds=9), "running"),
        ("running", "x", timedelta(seconds=-9), "abandoned"),
        ("running", None, timedelta(seconds=9), "paused"),
        ("charged", None, timedelta(), "waiting"),
    ):
        with store.write() as session:
            row = session.get_one(AuditRow, audit)
            row.state, row.claim, row.lease_until = state, claim, now() + lease
            session.add(row)
        with store.read() as session:
            assert [each.status for each in read_queue_status(session).shown] == [status]
    mandate = row.mandate_id
    running.regulator.mandates.suspend(mandate, "to be looked into")
    with store.read() as session:
        assert read_queue_status(session).by_status["held"] == 1
    running.regulator.mandates.resume(mandate, "it was nothing")


def test_the_rules_are_those_of_the_ledger(running: Deployment) -> None:
    assert set(AFFECT_PRIVACY) < set(MEANINGS)
    service = running.service
    with store_of(running).read() as session:
        found = {rule.name: rule for rule in list_privacy_settings(session, service.settings)}
        written = session.exec(select(EntryRow.at).where(col(EntryRow.kind) == "settings")).first()
        stricter = service.settings.model_copy(update={"members_kept_days": 3})
        other = {rule.name: rule for rule in list_privacy_settings(session, stricter)}
    assert found["members_kept_days"].value == "30"
    assert all(found[name].since == written for name in AFFECT_PRIVACY)
    assert found["console"].since is None
    # A process that runs with something else than what was written last.
    assert other["members_kept_days"].since is None
    assert other["members_kept_days"].in_ledger


def test_health_names_what_is_wrong(running: Deployment) -> None:
    submit(running)
    with store_of(running).read() as session:
        found = check_health(session, running.service.store, running.service.settings)
    assert found.database.revision == found.database.newest == list_revisions()[-1]
    assert found.database.size > 100_000
    assert found.database.disk is not None
    states = {check.name: check.state for check in found.checks}
    assert states["Database"] == "well"
    # An audit waits, and nobody runs audits.
    assert states["Workers"] == "wrong"
    assert found.state == "wrong"
