"""Bad input gets a clear problem; nothing is lost, nothing is kept and nothing is charged."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.db import MandateRow
from openapi.resources import MAX_BINS
from tests.statements import A_FORM
from tests.system.raw import JOB, SIGNED, Raw, raw, refused, request_for, unchanged, usernames
from tests.system.scene import Scene, wait
from tests.world import Deployment

pytestmark = pytest.mark.long_on_postgresql

NOWHERE = "0" * 30
JSON = {"content-type": "application/json"}


def both(scene: Scene, body: object, code: str, *words: str) -> None:
    """Neither priced nor submitted, with the same words."""
    with unchanged(scene.deployment.service.store):
        first = refused(scene.me.call("POST", "/v1/audits/price", **sent(body)), code, *words)
        signed = scene.me.signed("/v1/audits", body, "a-key-for-nothing")
        second = refused(scene.me.call("POST", "/v1/audits", **sent(body, signed)), code, *words)
    assert first["detail"] == second["detail"]


def sent(body: object, headers: dict[str, str] | None = None) -> dict[str, Any]:
    # By `json` and not by the client: it would refuse to write NaN.
    return {"content": json.dumps(body), "headers": JSON | (headers or {})}


EPSILON = {
    "0": "greater than 0",
    "-1": "greater than 0",
    "-0.000001": "greater than 0",
    "NaN": "finite",
    "Infinity": "finite",
    "1e-300": "6 decimal places",
    "0.0000001": "6 decimal places",
    "1.0000001": "6 decimal places",
    "1e9": "at most 10",
    "10.000001": "at most 10",
    "much": "must be a number",
    "": "must be a number",
}


PRICED = [(f, e, w) for f in ("epsilon", "size_epsilon") for e, w in EPSILON.items()]
PRICED.remove(("size_epsilon", "0", EPSILON["0"]))  # with 0 no sizes are bought


@pytest.mark.parametrize(("field", "epsilon", "words"), PRICED)
def test_an_epsilon_that_cannot_be_priced(
    scene: Scene, field: str, epsilon: str, words: str
) -> None:
    words = words.replace("greater than 0", "0") if field == "size_epsilon" else words
    both(scene, scene.request(**{field: epsilon}), "invalid-request", field, words)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 1e-300, 1e9, True, None])
def test_an_epsilon_that_is_a_bad_json_number(scene: Scene, epsilon: object) -> None:
    both(scene, scene.request(epsilon=epsilon), "invalid-request", "epsilon")


BINS = [
    ({"edges": [0, 0.5, 0.5, 1]}, "invalid-bins", "2 (0.5)"),
    ({"edges": [1, 0]}, "invalid-bins", "must increase"),
    ({"levels": [1, 3, 2]}, "invalid-bins", "2 (2.0)"),
    ({"levels": [1, 1]}, "invalid-bins", "must increase"),
    ({"edges": [0, float("nan")]}, "invalid-request", "finite"),
    ({"edges": [0, float("inf")]}, "invalid-request", "finite"),
    ({"edges": [float("-inf"), 0]}, "invalid-request", "finite"),
    ({"edges": [0, 10**400]}, "invalid-request", "must be a number"),
    ({"edges": [0]}, "invalid-request", "at least 2"),
    ({"edges": list(range(MAX_BINS + 2))}, "invalid-request", f"at most {MAX_BINS + 1}"),
    ({"levels": list(range(MAX_BINS + 1))}, "invalid-request", "bins"),
    ({"levels": []}, "invalid-request", "bins"),
    ({"edges": [0, 1], "levels": [1]}, "invalid-request", "no such field"),
    ({}, "invalid-request", "missing"),
]


@pytest.mark.parametrize(("bins", "code", "words"), BINS)
def test_bins_that_cannot_be_used(
    scene: Scene, bins: dict[str, Any], code: str, words: str
) -> None:
    both(scene, scene.request(bins=bins), code, words)


OTHER = [
    ({"context": {"hour": 99}}, "unsupported-audit", "cannot freeze hour at 99.0"),
    ({"context": {"weather": "rain"}}, "unsupported-audit", "cannot freeze weather"),
    ({"context": {"hour": "noon"}}, "unsupported-audit", "cannot freeze hour at 'noon'"),
    ({"context": {"": 1}}, "invalid-request", "context"),
    ({"context": {"hour": float("nan")}}, "invalid-request", "context.hour"),
    ({"kind": "outcome"}, "invalid-request", "score-histogram"),
    ({"content_id": f"content_{NOWHERE}"}, "not-found", f"content_{NOWHERE}"),
    ({"audience_id": f"audience_{NOWHERE}"}, "not-found", f"audience_{NOWHERE}"),
    ({"content_id": "the job ad"}, "invalid-request", "content_id"),
    ({"surprise": 1}, "invalid-request", "surprise", "no such field"),
    ({"\ud800": 1}, "invalid-request", "form"),
]


@pytest.mark.parametrize(("changes", "code", "words"), [(c, k, w) for c, k, *w in OTHER])
def test_an_audit_that_cannot_be_asked_for(
    scene: Scene, changes: dict[str, Any], code: str, words: list[str]
) -> None:
    both(scene, scene.request(**changes), code, *words)


def test_an_open_audience_is_not_audited(scene: Scene) -> None:
    body = scene.request(audience_id=scene.opened["id"])
    both(scene, body, "audience-not-sealed", "open", "Nothing was charged")


KEYS = [None, "short", "k" * 201, "with white space", "ключ-ключ-ключ"]


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_or_unusable_idempotency_key(scene: Scene, key: str | None) -> None:
    headers = {"Statement-Signature": A_FORM.encode()}
    headers |= {} if key is None else {"Idempotency-Key": key.encode()}
    with unchanged(scene.deployment.service.store):
        answer = scene.me.post("/v1/audits", scene.request(), headers=headers)
        refused(answer, "invalid-request", "Idempotency-Key")


def test_a_key_used_with_another_body_is_refused_and_names_the_audit(scene: Scene) -> None:
    first = scene.me.submit(scene.request(), "used-once-before").json()
    wait(scene.me, first["id"])
    with unchanged(scene.deployment.service.store):
        answer = scene.me.submit(scene.request(epsilon="0.5"), "used-once-before")
        refused(answer, "idempotency-conflict", first["id"], "Nothing was charged")


BODIES = [
    (b"{", JSON, "malformed-body", "not valid JSON"),
    (b"", JSON, "invalid-request", "missing"),
    (b'{"kind": "\xff"}', JSON, "malformed-body", "parsing the body"),
    (b"[" * 100_000, JSON, "malformed-body", "parsing the body"),
    (b'{"kind": ' + b"1" * 5_000 + b"}", JSON, "malformed-body", "parsing the body"),
    (b"[]", JSON, "invalid-request", "object"),
    (b'"job"', JSON, "invalid-request", "object"),
    (b'{"kind": "job"}', {"content-type": "text/plain"}, "unsupported-media-type", "json"),
    (b'{"kind": "job"}', {}, "unsupported-media-type", "application/json"),
    (b"kind=job", {"content-type": "application/x-www-form-urlencoded"}, "unsupported-media-type"),
]


@pytest.mark.parametrize(("body", "headers", "code", "words"), [(*c[:3], c[3:]) for c in BODIES])
@pytest.mark.parametrize("path", ["/v1/contents", "/v1/audiences", "/v1/audits/price"])
def test_a_body_that_is_not_json(
    scene: Scene, path: str, body: bytes, headers: dict[str, str], code: str, words: tuple[str, ...]
) -> None:
    with unchanged(scene.deployment.service.store):
        refused(scene.me.call("POST", path, content=body, headers=headers), code, *words)


CONTENTS = [
    ({"kind": "sermon"}, "kind"),
    ({"title": ""}, "title"),
    ({"title": "t" * 201}, "at most 200"),
    ({"title": 5}, "must be text"),
    ({"text": "t" * 10_001}, "at most 10000"),
    ({"attributes": {f"a{n}": "x" for n in range(33)}}, "at most 32"),
    ({"attributes": {"a": 1}}, "attributes.a"),
    ({"image": {"media_type": "image/gif", "data": "AAAA"}}, "image.media_type"),
    ({"image": {"media_type": "image/png", "data": ""}}, "image.data"),
    ({"image": {"media_type": "image/png", "data": "A"}}, "image.data"),
    ({"image": {"media_type": "image/png", "data": "A" * 1_900_000}}, "image.data"),
    ({"surprise": True}, "surprise"),
]


@pytest.mark.parametrize(("changes", "words"), CONTENTS)
def test_a_content_that_cannot_be_kept(scene: Scene, changes: dict[str, Any], words: str) -> None:
    with unchanged(scene.deployment.service.store):
        refused(scene.me.post("/v1/contents", JOB | changes), "invalid-request", words)


def test_a_text_with_nul_is_never_a_server_error(scene: Scene) -> None:
    """SQLite keeps NUL, PostgreSQL cannot: there it is refused."""
    on_sqlite = scene.deployment.service.store.url.startswith("sqlite")
    for who, path, body in [
        (scene.me, "/v1/contents", JOB | {"title": "a\0b"}),
        (scene.regulator, "/v1/regulator/auditors", {"name": "a\0b"}),
    ]:
        answer = who.state(path, body) if path in SIGNED else who.post(path, body)
        assert answer.is_success if on_sqlite else refused(answer, "invalid-request", "NUL")
    for path in ("/v1/contents/%00", "/v1/audits/%00/release", "/v1/audiences/%00"):
        refused(scene.me.get(path), "not-found" if on_sqlite else "invalid-request")
    assert scene.me.get("/v1/contents?cursor=%00").status_code in (200, 422)


SAMPLES = [
    ({"attribute": "gender", "groups": [("g0", "woman", 10**6)]}, "unavailable-sample", "1000 "),
    ({"attribute": "shoe size", "groups": [("g0", "woman", 1)]}, "unavailable-sample", " 0 "),
    ({"attribute": "gender", "groups": [("g0", "cat", 1)]}, "unavailable-sample", "catalogue"),
    ({"attribute": "gender", "groups": [("g0", "woman", 0)]}, "invalid-request", "size"),
    ({"attribute": "gender", "groups": [("g0", "woman", -1)]}, "invalid-request", "size"),
    ({"attribute": "gender", "groups": [("g0", "woman", 1.5)]}, "invalid-request", "size"),
    ({"attribute": "gender", "groups": [("women", "woman", 1)]}, "invalid-request", "label"),
    ({"attribute": "gender", "groups": []}, "invalid-request", "groups"),
    (
        {"attribute": "gender", "groups": [("g0", "woman", 1), ("g0", "man", 1)]},
        "invalid-request",
        "twice",
    ),
    (
        {"attribute": "gender", "groups": [("g0", "woman", 1), ("g1", "woman", 1)]},
        "invalid-request",
        "twice",
    ),
]


@pytest.mark.parametrize(("draft", "code", "words"), SAMPLES)
def test_a_sample_that_is_not_offered(
    scene: Scene, draft: dict[str, Any], code: str, words: str
) -> None:
    groups = [{"label": name, "value": value, "size": n} for name, value, n in draft["groups"]]
    with unchanged(scene.deployment.service.store):
        answer = scene.me.post("/v1/audiences/samples", draft | {"groups": groups})
        problem = refused(answer, code, words)
    if code == "unavailable-sample":
        assert f" {problem['available']} " in problem["detail"]


MANDATES = [
    ({"valid_from": "2026-01-01T00:00:00"}, "time zone"),
    ({"valid_until": "2020-01-01T00:00:00Z"}, "after valid_from"),
    ({"valid_from": "0001-01-01T00:00:00+12:00"}, "years 1 to 9999"),
    ({"valid_until": "9999-12-31T23:59:59-12:00"}, "years 1 to 9999"),
    ({"epsilon_limit": "0"}, "epsilon_limit"),
    ({"epsilon_limit": "0.0000001"}, "6 decimal places"),
    ({"epsilon_limit": "NaN"}, "finite"),
    ({"epsilon_limit": "1001"}, "1000"),
    ({"kinds": []}, "kinds"),
    ({"kinds": ["everything"]}, "kinds"),
    ({"purpose": ""}, "purpose"),
    ({"renewal": "monthly"}, "renewal"),
    ({"renewal": {"kind": "fixed", "days": 30}}, "lifetime_limit"),
    ({"lifetime_limit": "5"}, "lifetime_limit"),
    ({"rho_limit": "1"}, "epsilon_limit or rho_limit"),
    ({"delta": "0.000001"}, "limit in rho"),
    ({"colour": "red"}, "no such field"),
]


@pytest.mark.parametrize(("changes", "words"), MANDATES)
def test_a_mandate_that_cannot_be_granted(
    scene: Scene, changes: dict[str, Any], words: str
) -> None:
    draft = {
        "auditor_id": scene.auditor_id,
        "purpose": "test",
        "epsilon_limit": "1",
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_until": "2099-01-01T00:00:00Z",
    }
    with unchanged(scene.deployment.service.store):
        answer = scene.regulator.state("/v1/regulator/mandates", draft | changes)
        refused(answer, "invalid-request", words)
        nobody = draft | {"auditor_id": f"auditor_{NOWHERE}"}
        refused(scene.regulator.state("/v1/regulator/mandates", nobody), "not-found", "no auditor")


def newcomer(scene: Scene, epsilon: str, **mandate: Any) -> tuple[Raw, dict[str, Any]]:
    """Another auditor with a mandate of their own, and an audit they would ask for."""
    who = raw(scene.deployment, scene.deployment.auditor(epsilon, **mandate))
    audience = who.audience({"g0": usernames(scene.world, 3)})
    return who, request_for(who.content(), audience, size_epsilon="0")


def test_an_exhausted_budget_tells_what_was_spent_asked_and_is_left(scene: Scene) -> None:
    who, body = newcomer(scene, "0.3")
    first = who.submit(body | {"epsilon": "0.1"})
    assert first.status_code == 202
    quote = who.made("/v1/audits/price", body | {"epsilon": "0.1"})
    assert (quote["remaining_before"], quote["remaining_after"]) == ("0.1", "-0.1")
    assert quote["covered"] is False
    answer = who.submit(body | {"epsilon": "0.1"})
    problem = refused(answer, "budget-exhausted", "0.2 of 0.3", "0.1 is left")
    amounts = {name: problem[name] for name in ("limit", "spent", "asked", "remaining")}
    assert amounts == {"limit": "0.3", "spent": "0.2", "asked": "0.2", "remaining": "0.1"}
    [mandate] = who.get("/v1/budget").json()["mandates"]
    assert (mandate["id"], mandate["spent"]) == (problem["mandate_id"], "0.2")
    second = who.submit(body | {"epsilon": "0.05"})
    assert second.status_code == 202
    assert who.get("/v1/budget").json()["mandates"][0]["remaining"] == "0"
    for answer in (first, second):
        wait(who, answer.json()["id"])  # what comes next compares everything


def test_a_price_above_the_whole_mandate_says_so(scene: Scene) -> None:
    who, body = newcomer(scene, "1.5")
    with unchanged(scene.deployment.service.store):
        problem = refused(who.submit(body), "epsilon-above-mandate", "charged")
    assert (problem["asked"], problem["limit"], problem["spent"]) == ("2", "1.5", "0")


NOW = datetime.now(UTC)
WINDOWS: list[tuple[dict[str, Any], str, str]] = [
    ({"valid_from": NOW + timedelta(days=1), "valid_until": NOW + timedelta(days=2)},
     "mandate-not-yet-valid", "valid from"),
    ({"valid_from": NOW - timedelta(days=2), "valid_until": NOW - timedelta(days=1)},
     "mandate-expired", "ended at"),
]  # fmt: skip


@pytest.mark.parametrize(("window", "code", "words"), WINDOWS)
def test_a_mandate_out_of_its_time_pays_nothing(
    scene: Scene, window: dict[str, Any], code: str, words: str
) -> None:
    who, body = newcomer(scene, "5", **window)
    with unchanged(scene.deployment.service.store):
        refused(who.submit(body), code, words, "Nothing was charged")
        refused(who.post("/v1/audits/price", body), code, words, "Nothing was charged")


def test_no_mandate_and_a_mandate_for_another_kind_pay_nothing(scene: Scene) -> None:
    without, body = newcomer(scene, "0")
    other, other_body = newcomer(scene, "5")
    [mandate] = other.get("/v1/budget").json()["mandates"]
    with scene.deployment.service.store.write() as session:
        row = session.get_one(MandateRow, mandate["id"])
        row.kinds = ["a-kind-of-the-future"]
        session.add(row)
    try:
        with unchanged(scene.deployment.service.store):
            refused(without.submit(body), "no-mandate", "score-histogram", "regulator")
            refused(other.submit(other_body), "no-mandate", "score-histogram")
    finally:
        with scene.deployment.service.store.write() as session:
            row = session.get_one(MandateRow, mandate["id"])
            row.kinds = ["score-histogram"]
            session.add(row)


@pytest.fixture(scope="module")
def charged(idle: Deployment, world: Any) -> tuple[Deployment, Raw, dict[str, Any]]:
    """An audit that is paid for and that no worker has claimed."""
    who = raw(idle, idle.auditor())
    audience = who.audience({"g0": usernames(world, 3)})
    return idle, who, who.submit(request_for(who.content(), audience)).json()


def test_a_release_is_not_there_before_it_is_released(
    charged: tuple[Deployment, Raw, dict[str, Any]],
) -> None:
    deployment, who, audit = charged
    with unchanged(deployment.service.store):
        answer = who.get(f"/v1/audits/{audit['id']}/release")
        refused(answer, "not-released", "charged")


def test_an_audit_is_not_cancelled_once_it_reads(
    charged: tuple[Deployment, Raw, dict[str, Any]],
) -> None:
    deployment, who, audit = charged
    worker = deployment.service.worker()
    assert worker._claim() is not None
    path = f"/v1/audits/{audit['id']}/cancel"
    with unchanged(deployment.service.store):
        refused(who.post(path), "not-cancellable", "running")
    assert who.get("/v1/budget").json()["mandates"][0]["spent"] == "2.5"


def test_a_finished_audit_is_not_cancelled(scene: Scene) -> None:
    with unchanged(scene.deployment.service.store):
        answer = scene.me.post(f"/v1/audits/{scene.audit['id']}/cancel")
        refused(answer, "not-cancellable", "released")


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/nothing", "/v2/contents", "/v1/audits/a/b/c"])
def test_an_unknown_route_is_a_problem(scene: Scene, path: str) -> None:
    refused(scene.me.get(path), "not-found")


@pytest.mark.parametrize(
    ("method", "path"),
    [("PATCH", "/v1/contents"), ("DELETE", "/v1/audits"), ("PUT", "/v1/budget")],
)
def test_a_wrong_method_is_a_problem_that_names_the_right_ones(
    scene: Scene, method: str, path: str
) -> None:
    answer = scene.me.call(method, path)
    refused(answer, "method-not-allowed")
    assert "GET" in answer.headers["allow"] or "POST" in answer.headers["allow"]


def test_a_seal_without_a_good_salt_leaves_the_audience_open(scene: Scene) -> None:
    path = f"/v1/audiences/{scene.opened['id']}/seal"
    with unchanged(scene.deployment.service.store):
        for salt in ("", "AAAA", "=", "A" * 400, 5, None):
            refused(scene.me.post(path, {"salt": salt}), "invalid-request", "salt")
        refused(scene.me.post(path, {}), "invalid-request", "salt")


@pytest.mark.parametrize(
    "draft",
    [
        {"groups": []},
        {"groups": ["g0", "g0"]},
        {"groups": ["women"]},
        {"groups": ["g01"]},
        {"groups": ["g0\n"]},
        {"groups": [f"g{n}" for n in range(101)]},
        {"groups": ["g0"], "groups_per_person": 0},
        {"groups": ["g0"], "groups_per_person": 11},
        {"groups": ["g0"], "name": "women in tech"},
    ],
)
def test_an_audience_that_cannot_be_made(scene: Scene, draft: dict[str, Any]) -> None:
    with unchanged(scene.deployment.service.store):
        refused(scene.me.post("/v1/audiences", draft), "invalid-request")
