"""The view of regulators and operators: charges, refusals, refunds, keys, health and events."""

import json
import queue
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from joserfc import jws
from sqlalchemy import make_url

from api.db import Store
from api.platforms.interfaces import Platform
from auditor_client.local.saved_receipt import verify_release
from openapi.kinds.registry import BUILT_IN
from openapi.resources import Progress
from platform_sim import World
from privacy.ledger.entries import format_instant
from privacy.ledger.merkle import leaf_hash
from privacy.receipts import canonical
from tests.durability.processes import until
from tests.system.raw import Raw, raw, refused, request_for, unchanged, usernames
from tests.system.scene import Scene, operator_of, wait
from tests.world import Deployment, deployed


def pages(who: Raw, path: str, limit: int) -> Iterator[list[dict[str, Any]]]:
    cursor: dict[str, Any] = {}
    while True:
        page = who.get(path, params={"limit": limit, **cursor}).json()
        assert len(page["items"]) <= limit
        yield page["items"]
        if page["next"] is None:
            return
        cursor = {"cursor": page["next"]}


def test_lists_are_paged_newest_first_and_every_item_comes_once(scene: Scene) -> None:
    for _ in range(4):
        scene.me.content()
        scene.me.made("/v1/audiences", {"groups": ["g0"]})
        wait(scene.me, scene.me.submit(scene.request()).json()["id"])
        scene.deployment.auditor()
    regulator = "/v1/regulator"
    lists = [(scene.me, f"/v1/{name}") for name in ("contents", "audiences", "audits")]
    names = ("auditors", "researchers", "mandates", "charges")
    lists += [(scene.regulator, f"{regulator}/{name}") for name in names]
    for who, path in lists:
        whole = [item["id"] for item in who.get(path, params={"limit": 500}).json()["items"]]
        assert whole == sorted(whole, reverse=True)
        for limit in (1, 2):
            found = [[item["id"] for item in page] for page in pages(who, path, limit)]
            assert len(found) > 2
            assert [each for page in found for each in page] == whole
            assert len(set(whole)) == len(whole)


def test_the_ledger_is_numbered_without_gaps_and_its_leaves_fit(scene: Scene) -> None:
    entries = [entry for page in pages(scene.regulator, "/v1/ledger/entries", 7) for entry in page]
    assert [entry["number"] for entry in entries] == list(range(len(entries)))[::-1]
    for entry in entries:
        stated = {"statement": entry["statement"]} if entry["statement"] else {}
        whole = {name: entry[name] for name in ("number", "kind", "facts")} | stated
        at = format_instant(datetime.fromisoformat(entry["at"]))
        line = canonical(whole | {"at": at, "auditor": entry["auditor_id"]})
        assert entry["leaf"] == b64encode(leaf_hash(line)).decode()
    kinds = Counter(entry["kind"] for entry in entries)
    assert {"auditor", "researcher", "mandate", "content", "audience", "charge", "release"} <= set(
        kinds
    )


@pytest.mark.parametrize(
    ("path", "bad"),
    [
        ("/v1/ledger/entries", {"cursor": "first"}),
        ("/v1/ledger/entries", {"cursor": "-1"}),
        ("/v1/regulator/charges", {"limit": "0"}),
        ("/v1/regulator/charges", {"limit": "501"}),
        ("/v1/regulator/charges", {"cursor": "c" * 65}),
        ("/v1/regulator/charges", {"auditor_id": "a" * 65}),
    ],
)
def test_a_page_that_cannot_be_asked_for(scene: Scene, path: str, bad: dict[str, str]) -> None:
    refused(scene.regulator.get(path, params=bad), "invalid-request", "query")


def test_charges_tell_who_spent_what_on_which_audience(scene: Scene) -> None:
    auditor = scene.deployment.auditor()
    me = raw(scene.deployment, auditor)
    first, second = (me.audience({"g0": [name]}) for name in ("ada", "grace"))
    content = me.content()
    for audience, epsilon in ((first, "1"), (second, "0.5"), (second, "0.25")):
        wait(me, me.submit(request_for(content, audience, epsilon=epsilon)).json()["id"])
    [mandate] = auditor.budget().mandates
    charges = scene.deployment.regulator.charges
    mine = charges(auditor_id=mandate.auditor_id)
    assert [Fraction(charge.debit) for charge in mine] == [
        Fraction(n) for n in ("0.625", "1.25", "2.5")
    ]
    assert {charge.auditor_id for charge in mine} == {mandate.auditor_id}
    on_second = charges(audience_id=second["id"])
    assert on_second == mine[:2]
    assert {charge.audience_commitment for charge in on_second} == {second["commitment"]}
    assert {digest for charge in mine for digest in charge.content_digests} == {content["digest"]}
    assert charges(auditor_id=mandate.auditor_id, audience_id=first["id"]) == mine[2:]
    assert charges(auditor_id=scene.auditor_id, audience_id=first["id"]) == []
    assert charges(auditor_id="nobody") == []
    assert sum(charge.debit for charge in mine) == mandate.spent


def test_mandates_can_be_filtered_and_the_budget_shows_ones_own(scene: Scene) -> None:
    auditor = scene.deployment.auditor(epsilon="3")
    auditor_id = auditor.budget().mandates[0].auditor_id
    later = datetime.now(UTC) + timedelta(days=9)
    scene.deployment.grant(auditor_id, "0.5", valid_until=later)
    found = scene.regulator.get("/v1/regulator/mandates", params={"auditor_id": auditor_id}).json()
    shown = raw(scene.deployment, auditor).get("/v1/budget").json()["mandates"]
    assert found["items"] == shown
    assert [(m["epsilon_limit"], m["spent"], m["remaining"]) for m in shown] == [
        ("0.5", "0", "0.5"),
        ("3", "0", "3"),
    ]
    me = raw(scene.deployment, auditor)
    body = request_for(me.content(), me.audience({"g0": ["ada"]}), epsilon="0.2", size_epsilon="0")
    # The one that ends first pays, unless another one is named.
    first = me.submit(body).json()
    assert first["mandate_id"] == shown[1]["id"]
    second = me.submit(body | {"mandate_id": shown[0]["id"]}).json()
    assert second["mandate_id"] == shown[0]["id"]
    assert [m["spent"] for m in me.get("/v1/budget").json()["mandates"]] == ["0.4", "0.4"]
    for audit in (first, second):
        wait(me, audit["id"])  # what comes next compares everything


def entries_of(deployment: Deployment, auditor_id: str, kind: str) -> list[dict[str, Any]]:
    ledger = deployment.regulator.ledger.entries()
    return [e.facts for e in ledger if (e.auditor_id, e.kind) == (auditor_id, kind)]


def test_refusals_are_entries_of_the_ledger(scene: Scene) -> None:
    auditor = scene.deployment.auditor(epsilon="1")
    auditor_id = auditor.budget().mandates[0].auditor_id
    me = raw(scene.deployment, auditor)
    body = request_for(me.content(), me.audience({"g0": ["ada"]}))
    with unchanged(scene.deployment.service.store):
        refused(me.submit(body), "epsilon-above-mandate")
        refused(me.submit(body | {"bins": {"edges": [1, 0]}}), "invalid-bins")
        refused(me.submit(body | {"context": {"hour": 1}}), "unsupported-audit")
        refused(me.post("/v1/audits/price", body | {"bins": {"edges": [1, 0]}}), "invalid-bins")
    refusals = entries_of(scene.deployment, auditor_id, "refusal")
    codes = [refusal["code"] for refusal in refusals]
    assert codes == ["unsupported-audit", "invalid-bins", "epsilon-above-mandate"]
    assert {refusal["by"] for refusal in refusals} == {auditor._tokens._researcher_id}
    assert entries_of(scene.deployment, auditor_id, "charge") == []


def test_a_cancelled_audit_is_refunded_once_and_stays_on_record(
    idle: Deployment, world: World
) -> None:
    auditor = idle.auditor()
    me, auditor_id = raw(idle, auditor), auditor.budget().mandates[0].auditor_id
    body = request_for(me.content(), me.audience({"g0": usernames(world, 3)}))
    audit = me.submit(body, "to-be-cancelled").json()
    assert auditor.budget().mandates[0].spent == Fraction("2.5")
    assert auditor.audits.cancel(audit["id"]).state == "cancelled"
    assert auditor.budget().mandates[0].spent == 0
    with unchanged(idle.service.store):
        refused(me.post(f"/v1/audits/{audit['id']}/cancel"), "not-cancellable", "cancelled")
        refused(me.get(f"/v1/audits/{audit['id']}/release"), "not-released", "cancelled")
        # The key is used up: repeating it brings back neither the audit nor the charge.
        assert me.submit(body, "to-be-cancelled").json()["id"] == audit["id"]
        assert not idle.service.worker().run_one()
    [charge] = idle.regulator.charges(auditor_id=auditor_id)
    assert charge.refunded
    [refund] = entries_of(idle, auditor_id, "refund")
    assert (refund["audit_id"], refund["charge_id"]) == (audit["id"], charge.id)
    assert (refund["debit"], refund["currency"]) == ("2.5", "epsilon")
    events = me.get(f"/v1/audits/{audit['id']}/events").text
    assert events.count("data:") == 1
    assert '"cancelled"' in events


def test_events_tell_each_state_once_and_end(idle: Deployment, world: World) -> None:
    me = raw(idle, idle.auditor())
    audience = me.audience({"g0": usernames(world, 3)})
    audit = me.submit(request_for(me.content(), audience)).json()
    heard: queue.Queue[str | None] = queue.Queue()

    def listen() -> None:
        with me.http.stream("GET", f"/v1/audits/{audit['id']}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["cache-control"] == "no-store"
            for line in answer.iter_lines():
                heard.put(line)
        heard.put(None)

    thread = threading.Thread(target=listen)
    thread.start()
    worker = idle.service.worker()
    expected = ["event: progress", json_line(audit["id"], "charged"), ""]
    assert [heard.get(timeout=20) for _ in range(3)] == expected
    claimed = worker._claim()
    assert claimed is not None
    assert [heard.get(timeout=20) for _ in range(3)][1] == json_line(audit["id"], "running")
    worker._release([worker._execute(claimed)])
    assert [heard.get(timeout=20) for _ in range(3)][1] == json_line(audit["id"], "released")
    assert heard.get(timeout=20) is None
    thread.join()


def json_line(audit_id: str, state: Any) -> str:
    return f"data: {Progress(audit_id=audit_id, state=state).model_dump_json()}"


def test_after_a_rotation_old_receipts_verify_and_new_ones_are_by_the_new_key(
    scene: Scene,
) -> None:
    def receipt(audit_id: str) -> tuple[bytes, str]:
        stored = scene.me.get(f"/v1/audits/{audit_id}/release").content
        header = jws.extract_compact(json.loads(stored)["receipt"].encode()).protected
        return stored, header["kid"]

    def keys() -> dict[str, Any]:
        published: dict[str, Any] = scene.me.get("/.well-known/jwks.json").json()
        assert all("d" not in key for key in published["keys"])
        return published

    old, old_kid = receipt(scene.audit["id"])
    before = scene.operator.get("/v1/operator/keys").json()
    answer = scene.operator.post("/v1/operator/keys/rotate")
    assert answer.status_code == 201
    after = answer.json()
    assert len(after) == len(before) + 3
    in_force = {key["purpose"]: key["kid"] for key in after if key["retired_at"] is None}
    assert in_force.keys() == {"access-token", "receipt", "ledger"}
    assert not set(in_force.values()) & {key["kid"] for key in before}

    audit = scene.me.submit(scene.request()).json()  # with a token of the retired key
    assert wait(scene.me, audit["id"]) == "released"
    new, new_kid = receipt(audit["id"])
    assert new_kid == in_force["receipt"] != old_kid
    for stored in (old, new):
        verify_release(stored, keys())
    fresh = scene.deployment.auditor()
    token = jws.extract_compact(fresh._tokens.current().encode())
    assert token.protected["kid"] == in_force["access-token"]
    made = [e.facts for e in scene.deployment.regulator.ledger.entries() if e.kind == "signing-key"]
    assert [key["kid"] for key in made][::-1] == [key["kid"] for key in after]
    by = {key["kid"]: key["by"] for key in made}
    assert {by[kid] for kid in in_force.values()} == {scene.deployment.operator_id}


def test_the_catalogue_is_public_and_says_what_is_offered(scene: Scene, platform: Platform) -> None:
    answer = httpx2.get(f"{scene.deployment.url}/v1/catalogue")
    catalogue = answer.json()
    assert platform.scores is not None
    assert catalogue["kinds"] == list(BUILT_IN)
    assert catalogue["model_digest"] == platform.scores.model_digest
    assert catalogue["limits"]["epsilon_per_audit"] == "10"
    offers = platform.people.offers()
    shown = {(o["attribute"], o["value"]): o["available"] for o in catalogue["samples"]}
    assert shown == {(a, v): n for a, values in offers.items() for v, n in values.items()}
    assert {f["name"]: f["default"] for f in catalogue["context"]} == {
        name: values[0] for name, values in platform.scores.context.items()
    }
    assert answer.text == httpx2.get(f"{scene.deployment.url}/v1/catalogue").text


def take_away(store: Store, aside: Path) -> Callable[[], None]:
    """Make the database unreachable; what is returned brings it back."""
    url = make_url(store.url)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        store.engine.dispose()
        file.rename(aside)
        file.mkdir()
        store.engine.dispose()  # connections opened meanwhile use the moved file

        def back() -> None:
            file.rmdir()
            aside.rename(file)

        return back

    def allow(connections: bool) -> None:
        server = url.set(drivername="postgresql", database="postgres")
        with psycopg.connect(server.render_as_string(False), autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{url.database}" ALLOW_CONNECTIONS {connections}')
            if not connections:
                ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
                connection.execute(ending, [url.database])

    allow(False)
    return lambda: allow(True)


def test_without_its_database_the_service_is_alive_but_not_ready(
    new_database: Callable[[], str], platform: Platform, tmp_path: Path
) -> None:
    # Nothing else that looks by itself may open the file while it is taken away.
    quiet = {"embedded_worker": False, "checkpoint_seconds": 60.0, "poll_seconds": 60.0}
    quiet |= {"heartbeat_seconds": 0.5}
    with deployed(new_database(), platform, **quiet) as deployment:
        me, content = raw(deployment, deployment.auditor()), {"kind": "job", "title": "x"}
        for path in ("/healthz", "/readyz"):
            assert me.get(path).json()["status"] == "ok"
        back = take_away(deployment.service.store, tmp_path / "aside.sqlite")
        try:
            until(lambda: me.get("/readyz").status_code == 503, "the probe to notice")
            answer = me.get("/readyz")
            refused(answer, "unavailable", "background write")
            assert int(answer.headers["retry-after"]) > 0
            assert me.get("/healthz").json() == {"status": "ok"}
            refused(me.get("/v1/budget"), "unavailable", "again")
            refused(me.post("/v1/contents", content), "unavailable", "again")
        finally:
            back()
        until(lambda: me.get("/readyz").is_success, "the probe to recover")
        assert me.post("/v1/contents", content).is_success


def test_the_operator_is_no_regulator_and_needs_no_auditor(scene: Scene) -> None:
    assert operator_of(scene.deployment).get("/v1/operator/keys").is_success
    refused(scene.operator.get("/v1/regulator/charges"), "forbidden")
