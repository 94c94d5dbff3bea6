"""An auditor's view of an audit, from the first upload to the release."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
from sqlmodel import col, select

from api.db import AuditRow
from openapi.resources import GroupMoved, MomentUnits
from tests.system.raw import SALT, Raw, csv, raw, request_for
from tests.world import Deployment

HISTOGRAM = "score-histogram"
KINDS_OF_AUDIT = [
    HISTOGRAM,
    "score-cdf",
    "match-count",
    "most-skewed",
    "outcome-test",
    "log-cdf",
    "bias-size",
    "reo",
    "envy-freeness",
]
# The fewest people that suffice for anything.
ENVY: dict[str, Any] = {
    "alpha": "1",
    "tolerance": "1",
    "delta": "0.4",
    "gamma": "0.9",
    "lam": "0.9",
    "targets": 3,
    "arms": 2,
    "arms_per_person": 3,
    "steps": 200,
}
OF_LOGS: dict[str, dict[str, Any]] = {
    "outcome-test": {
        "score": "share",
        "outcome": "like_video",
        "outcome_range": {"low": 0, "high": 1},
    },
    "log-cdf": {"column": "share"},
    "bias-size": {
        "query": "follow",
        "score": "share",
        "outcome": "like_video",
        "outcome_range": {"low": 0, "high": 1},
        "corrections": [{"label": label, "add": [0, 0, 0, 0.1]} for label in ("g0", "g1")],
        "places": 5,
    },
    "reo": {
        "signals": ["like_video", "share"],
        "creators": "young_adult",
        "groups": ["no", "yes"],
        "strategies": ["default"],
    },
}
NOISY_LISTS = ("counts", "cumulative", "negatives", "positives", *MomentUnits.model_fields)
NOISY_NUMBERS = ("outside", "count", *GroupMoved.model_fields.keys() - {"label"})
# What is random or the time of day: identifiers, digests, instants and signatures.
VARYING = re.compile(
    r"[a-z]+_[0-9a-f]{30}|sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)"
    r"|ey[\w-]+\.[\w-]+\.[\w-]+"
)
View = tuple[str, int, dict[str, str], str, int]


def body_of(
    kind: str, content: Mapping[str, Any], audience: Mapping[str, Any], **asked: object
) -> dict[str, Any]:
    """A good request of this kind, for two groups at most."""
    body = request_for(content, audience, kind=kind, **asked)
    if kind == "match-count":
        del body["content_id"], body["bins"]
    if kind in OF_LOGS:
        del body["content_id"]
        body |= {"log": "feed", "rows_per_person": 2, **OF_LOGS[kind]}
    if kind == "reo":
        del body["bins"]
    if kind == "envy-freeness":
        del body["content_id"], body["bins"]
        body |= ENVY
    if kind == "most-skewed":
        body["contents"] = [body.pop("content_id")] * 2
    return body


def seen(what: str, answer: httpx2.Response) -> View:
    """All of an answer but what varies by itself: status, headers, text, and its length."""
    text = VARYING.sub("…", answer.text)
    headers = {
        name: VARYING.sub("…", value)
        for name, value in answer.headers.items()
        if name not in ("date", "content-length")
    }
    return what, answer.status_code, headers, text, len(text)


def look(
    deployment: Deployment, names: list[str], kind: str = HISTOGRAM, **asked: object
) -> Iterator[View]:
    """Upload, seal, price, submit, follow, fetch and cancel, and look at everything in between."""
    me = raw(deployment, deployment.auditor(kinds=KINDS_OF_AUDIT, exploration_limit="10000"))
    content = me.content(title=str(asked.pop("title", "a job")))
    made = me.post("/v1/audiences", {"groups": ["g0", "g1"], "consented": True})
    audience, half = made.json(), len(names) // 2
    path = f"/v1/audiences/{audience['id']}"
    yield seen("upload", me.put(audience["id"], "g0", csv(names[:half])))
    yield seen("upload", me.put(audience["id"], "g1", csv(names[half:])))
    yield seen("seal", me.post(f"{path}/seal", {"salt": SALT}))
    yield seen("audience", me.get(path))
    yield seen("audiences", me.get("/v1/audiences"))
    # Little at a time: people who have borne enough would look like strangers.
    body = body_of(kind, content, audience, **({"epsilon": "0.01"} | asked))
    yield seen("price", me.post("/v1/audits/price", body))
    yield seen("prices", me.post("/v1/audits/prices", [body, body]))
    submitted = me.submit(body)
    yield seen("submit", submitted)
    if submitted.is_success:
        yield from follow(deployment, me, submitted.json()["id"])
        again = me.submit(body).json()["id"]
        yield seen("cancel", me.post(f"/v1/audits/{again}/cancel"))
    yield seen("budget", me.get("/v1/budget"))


def follow(deployment: Deployment, me: Raw, audit_id: str) -> Iterator[View]:
    path = f"/v1/audits/{audit_id}"
    yield seen("queued", me.get(path))
    yield seen("not yet", me.get(f"{path}/release"))
    run(deployment)
    yield seen("audit", me.get(path))
    yield seen("audits", me.get("/v1/audits"))
    if me.get(path).json()["state"] == "released":
        yield seen("progress", me.get(f"{path}/events"))
    what, status, headers, text, _ = seen("release", me.get(f"{path}/release"))
    quiet = without_noise(text) if status == 200 else text
    yield what, status, headers, quiet, len(quiet)


def without_noise(release: str) -> str:
    """A release without what went through the waist."""
    body: dict[str, Any] = json.loads(release)
    of_all = {
        "most-skewed": ("chosen",),
        "bias-size": ("outcome", "corrected_outcome"),
        "envy-freeness": ("envious", "no_envy", "duration", "cost"),
    }
    body |= dict.fromkeys(of_all.get(body["kind"], ()), "noisy")
    groups = body.get("groups", [])
    traffics = [one for group in groups for one in group.get("traffics", [])]
    for group in [*groups, *traffics]:
        lists = {name: value for name, value in group.items() if name in NOISY_LISTS}
        lists = {name: len(value) for name, value in lists.items() if isinstance(value, list)}
        numbers = {name for name in NOISY_NUMBERS if name in group} - lists.keys()
        group |= dict.fromkeys(numbers, "noisy") | lists
        if group.get("size", {}).get("kind") == "noisy":
            group["size"]["value"] = "noisy"
    return json.dumps(body)


def run(deployment: Deployment) -> None:
    """Let a worker do what there is to do, and try again where leases are short."""
    worker = deployment.service.worker()
    impatient = worker.settings.lease_seconds < 0.1
    while worker.run_one() or (impatient and unfinished(deployment)):
        time.sleep(0.002)


def unfinished(deployment: Deployment) -> bool:
    query = select(AuditRow.id).where(col(AuditRow.state).in_(("charged", "running")))
    with deployment.service.store.read() as session:
        return session.exec(query).first() is not None


def release_of(deployment: Deployment, me: Raw, body: object) -> dict[str, Any]:
    """Submit, run, fetch."""
    submitted = me.submit(body)
    assert submitted.is_success, submitted.text
    run(deployment)
    answer = me.get(f"/v1/audits/{submitted.json()['id']}/release")
    assert answer.is_success, answer.text
    released: dict[str, Any] = answer.json()
    return released
