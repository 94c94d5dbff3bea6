"""Logs and metrics of the process: structured, with nothing private in them (R1)."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from joserfc.jwk import OKPKey

from api.kernel.settings import load_settings
from api.operations.setup import prepare, write_settings
from api.telemetry.logging import FIELDS
from auditor_client import Auditor, Regulator
from platform_sim import World
from tests.system.raw import SALT, Raw, csv, raw, request_for, usernames
from tests.system.scene import wait
from tests.world import Deployment, free_port, sqlite_url

COMMAND = str(Path(sys.executable).parent / "platform-auditor")
ROOT = Path(__file__).parents[2]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "",  # a second start is much faster
    "PLATFORM_AUDITOR_PLATFORM": "tests.system.adapters:faulty_platform",
    "PLATFORM_AUDITOR_PLATFORM_OPTIONS": '{"people": 6000}',
    "PLATFORM_AUDITOR_LOG_LEVEL": "DEBUG",
    "PLATFORM_AUDITOR_LEASE_SECONDS": "0.05",
    "PLATFORM_AUDITOR_POLL_SECONDS": "0.05",
}
STANDARD = {"at", "level", "event", "exception", "raised_at"}


@dataclass
class Process:
    """`platform-auditor serve`, and all that it wrote."""

    url: str
    metrics: str
    regulator: Regulator
    clients: ExitStack
    files: list[Path] = field(default_factory=list)

    def written(self) -> str:
        return "".join(file.read_text() for file in self.files)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    key = OKPKey.generate_key("Ed25519")
    public = tmp_path / "regulator.json"
    public.write_text(json.dumps(key.as_dict(private=False)))
    port, metrics = free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    settings = tmp_path / "platform-auditor.toml"
    secret = base64.urlsafe_b64encode(os.urandom(32))
    write_settings(settings, sqlite_url(tmp_path), url, secret)
    person = prepare(load_settings(settings), {"regulator": public})["regulator"]
    serve = ["serve", "--config", str(settings), "--port", str(port)]
    files = [tmp_path / "out", tmp_path / "err"]
    with files[0].open("w") as out, files[1].open("w") as err, ExitStack() as clients:
        running = subprocess.Popen(
            [COMMAND, *serve, "--metrics-port", str(metrics)],
            env={name: value for name, value in ENVIRONMENT.items() if value},
            stdout=out,
            stderr=err,
        )
        clients.enter_context(_ended(running))
        _until_ready(url, running)
        regulator = clients.enter_context(Regulator(url, person, key))
        yield Process(url, f"http://127.0.0.1:{metrics}/metrics", regulator, clients, files)


@contextmanager
def _ended(running: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(30)


def _until_ready(url: str, running: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            if httpx2.get(f"{url}/readyz").is_success:
                return
        except httpx2.TransportError:
            assert running.poll() is None
            time.sleep(0.1)
    raise AssertionError("the service did not start")


def go_through_everything(me: Raw, names: list[str], emails: list[str]) -> list[dict[str, Any]]:
    """Audits that are released and that fail, and every kind of mistake."""
    releases = []
    audience = me.audience({"g0": names[:20], "g1": names[20:]})
    for title in ("a job", "raises", "words", "down"):
        audit = me.submit(request_for(me.content(title=title), audience)).json()
        if wait(me, audit["id"]) == "released":
            releases.append(me.get(f"/v1/audits/{audit['id']}/release").json())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})
    me.put(opened["id"], "g0", csv(emails, "email_sha256"))
    me.put(opened["id"], "g0", csv([*names, "two words"]))
    me.put(opened["id"], "g0", csv(names) + b"a,b\n")
    me.put(opened["id"], "g0", json.dumps({"username": names[0], "age": 5}), "application/x-ndjson")
    me.put(opened["id"], "g0", csv([*names, "gossip.victim"]))
    closing = {"connection": "close"}
    failed = me.post(f"/v1/audiences/{opened['id']}/seal", {"salt": SALT}, headers=closing)
    assert failed.status_code == 200  # the identifier that makes the adapter fail matches nobody
    me.get(f"/v1/audiences/{names[0]}")
    me.get("/v1/contents", params={"cursor": names[1]})
    me.get(f"/{names[2]}", params={"email": emails[0]})
    me.post("/v1/contents", {"kind": "job", "title": "x" * 300, names[3]: 1})
    me.get("/v1/budget", headers={"authorization": f"Bearer {names[4]}"})
    me.submit(request_for({"id": names[5]}, audience))
    return releases


def test_neither_logs_nor_figures_hold_anything_private(process: Process, world: World) -> None:
    auditor_key = OKPKey.generate_key("Ed25519")
    lab = process.regulator.auditors.add("A lab with a name")
    deployment = Deployment(process.url, None, process.regulator, "", auditor_key, process.clients)  # type: ignore[arg-type]
    deployment.grant(lab.id, "100")
    person = process.regulator.researchers.add(
        "Ada Private", auditor_id=lab.id, jwk=auditor_key.as_dict(private=False)
    )
    auditor = process.clients.enter_context(Auditor(process.url, person.id, auditor_key))
    me = raw(deployment, auditor)
    names = usernames(world, 40)
    emails = [sha256(name.encode()).hexdigest() for name in names[:10]]
    releases = go_through_everything(me, names, emails)
    assert len(releases) == 3
    figures = httpx2.get(process.metrics).text

    token = me.http.headers["authorization"].removeprefix("Bearer ")
    secrets = [
        *names, *(name.lower() for name in names), *emails,
        *(base64.b64encode(bytes.fromhex(each)).decode() for each in emails),
        token, *token.split("."), SALT, base64.b64decode(SALT).decode(),
        "gossip", "victim", "example.org", "471147114711", "0.123456789",
        "Ada Private", "A lab with a name", "Software engineer", "data pipelines",
        *(release["receipt"] for release in releases),
    ]  # fmt: skip
    text = process.written()
    for secret in secrets:
        assert secret not in text
        assert secret not in figures
    check_lines(text)
    assert 'route="/v1/audits/{audit_id}/release"' in figures
    assert 'audits_total{state="released"} 3.0' in figures
    assert not re.search(r"[a-z]+_[0-9a-f]{30}", figures)


def check_lines(text: str) -> None:
    """Every line is one JSON object of named fields: there is no room for anything else."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines
    for line in lines:
        assert set(line) <= STANDARD | set(FIELDS)
        assert re.fullmatch(r"[a-zA-Z][\w.]*", line["event"])
        assert re.fullmatch(r"audit_[0-9a-f]{30}", line.get("audit", "audit_" + "0" * 30))
        assert re.fullmatch(r"[\w/.{}-]*", line.get("route", ""))
        assert all(re.fullmatch(r"[^:]+\.py:\d+", each) for each in line.get("raised_at", []))
    events = {line["event"] for line in lines}
    assert {"request", "audit.running", "audit.released", "audit.given_back"} <= events
    # The faults did happen, and are told by their reason alone.
    assert {line["reason"] for line in lines if "reason" in line} == {"platform-down"}
