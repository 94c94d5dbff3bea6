"""A kind of audit in a package of its own: installed, checked, enabled, and used everywhere.

The package is `docs/examples/share-above`. Nothing else of the project names it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from joserfc.jwk import OKPKey

from api.kernel.settings import load_settings
from api.operations.setup import prepare, write_settings
from auditor_client import Auditor, Regulator, save_profile
from auditor_client.kinds.registry import AUDITOR_KINDS
from openapi.kinds.packages import installed
from openapi.kinds.registry import CONTRACTS
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit
from tests.system.console_session import console_session, headline
from tests.world import Deployment, free_port, sqlite_url

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/examples/share-above"
BIN = Path(sys.executable).parent
KIND = "share-above"
ASSUMES = "third-party-bounds"
PEOPLE = 6_000

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package, as it is built from its own project file."""
    folder = tmp_path_factory.mktemp("site")
    project = folder / "project"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__"))
    install(project, folder / "packages")
    return folder / "packages"


def install(project: Path, target: Path) -> None:
    options = ["--offline", "--no-deps", "--no-build-isolation", "--target", str(target)]
    python = ["--python", sys.executable]
    uv = [str(BIN / "uv"), "pip", "install", "--no-cache"]
    command = [*uv, *python, *options, str(project)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def package(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is installed for this process too, which is the SDK."""
    monkeypatch.syspath_prepend(str(site))
    installed.cache_clear()
    yield
    monkeypatch.undo()
    installed.cache_clear()


@dataclass
class Host:
    """A platform with its database, before it is served."""

    folder: Path
    url: str
    settings: Path
    regulator: str
    key: OKPKey
    environment: dict[str, str]

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command of the operator or the auditor; return all that it wrote."""
        command = [str(BIN / words[0]), *words[1:]]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def json(self, *words: str) -> Any:
        command = [str(BIN / words[0]), *words[1:], "--json"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def check(self, *options: str, code: int = 0) -> str:
        words = ("platform-auditor", "kinds", "check", KIND, "--config", str(self.settings))
        return self.run(*words, "--worlds", "5", *options, code=code)


@pytest.fixture
def host(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    key = OKPKey.generate_key("Ed25519")
    public = tmp_path / "regulator.json"
    public.write_text(json.dumps(key.as_dict(private=False)))
    url = f"http://127.0.0.1:{free_port()}"
    settings = tmp_path / "platform-auditor.toml"
    write_settings(settings, sqlite_url(tmp_path), url, b"A" * 43 + b"=")
    person = prepare(load_settings(settings), {"regulator": public})["regulator"]
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(tmp_path / "home"))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "120",
        "PLATFORM_AUDITOR_PLATFORM": "simulated",
        "PLATFORM_AUDITOR_PLATFORM_OPTIONS": json.dumps({"people": PEOPLE}),
        "PLATFORM_AUDITOR_POLL_SECONDS": "0.05",
    }
    return Host(tmp_path, url, settings, person, key, environment)


@contextmanager
def served(host: Host) -> Iterator[Path]:
    """Serve the platform; yield the file of its log."""
    log = host.folder / "log"
    port = host.url.rpartition(":")[2]
    serve = [str(BIN / "platform-auditor"), "serve"]
    command = [*serve, "--config", str(host.settings), "--port", port]
    with log.open("w") as err:
        running = subprocess.Popen(command, env=host.environment, stderr=err, stdout=err)
        try:
            for _ in range(900):
                try:
                    if httpx2.get(f"{host.url}/readyz").is_success:
                        break
                except httpx2.TransportError:
                    assert running.poll() is None, log.read_text()
                time.sleep(0.1)
            yield log
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(30)


def digest_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def offered(host: Host) -> list[str]:
    found: list[str] = httpx2.get(f"{host.url}/v1/catalogue", timeout=60).json()["kinds"]
    return found


def test_a_package_is_offered_once_it_is_checked_and_not_when_it_changes(
    host: Host, site: Path
) -> None:
    with served(host) as log:
        assert KIND not in offered(host)
        assert "was not checked" in log.read_text()
    found = host.check()
    assert "Recorded share-above 1.0, sha256:" in found
    assert "VIOLATED" not in found
    with served(host):
        assert KIND in offered(host)
        contract = httpx2.get(f"{host.url}/openapi.json", timeout=60).text
        assert "ShareAboveRequest" in contract
    module = site / "share_above" / "platform_half.py"
    before = module.read_text()
    try:
        module.write_text(before + "\n# changed\n")
        assert "changed since it was checked" in host.run(
            "platform-auditor", "kinds", "list", "--config", str(host.settings)
        )
        with served(host) as log:
            assert KIND not in offered(host)
            assert "changed since the check" in log.read_text()
    finally:
        module.write_text(before)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Everybody counts twice.
        ("return Table.tally(bounds, np.where", "return _twice(bounds, np.where"),
        # People of two groups are priced as if they were in one.
        ("(public.groups, 2), public.groups_per_person,", "(public.groups, 2), 1,"),
        # In a sample one person displaces another.
        ("fixed_slots=public.fixed_slots", "fixed_slots=False"),
    ],
)
def test_a_kind_that_claims_too_little_is_not_recorded(
    host: Host, site: Path, old: str, new: str
) -> None:
    module = site / "share_above" / "platform_half.py"
    before = module.read_text()
    twice = "\n\ndef _twice(bounds: Bounds, cell: Any) -> Table:\n"
    twice += "    one = Table.tally(bounds, cell)\n    return one + one\n"
    assert old in before
    try:
        module.write_text(before.replace(old, new) + twice)
        assert "VIOLATED: one person moves 'counts'" in host.check(code=1)
        assert "was not checked" in host.run(
            "platform-auditor", "kinds", "list", "--config", str(host.settings)
        )
    finally:
        module.write_text(before)


def test_a_release_that_fails_is_found_by_the_check_with_its_line(host: Host, site: Path) -> None:
    module = site / "share_above" / "platform_half.py"
    before = module.read_text()
    try:
        module.write_text(before.replace("above=int(above)", "over=int(above)"))
        found = host.check(code=2)
        assert "platform_half.py, line " in found
        assert "GroupShare: above: it is missing; over: there is no such field" in found
        assert "pydantic" not in found
    finally:
        module.write_text(before)


def test_a_broken_package_stops_neither_the_service_nor_the_command(host: Host, site: Path) -> None:
    host.check()
    contract = site / "share_above" / "contract.py"
    before = contract.read_text()
    try:
        contract.write_text("raise RuntimeError('broken')\n")
        helped = host.run("auditor", "audit", "--help")
        assert "match-count" in helped
        assert "RuntimeError: broken" in helped
        assert "share-above cannot be loaded" in host.check(code=2)
        with served(host):
            assert KIND not in offered(host)
    finally:
        contract.write_text(before)


@dataclass
class Lab:
    """An auditor whose profile is `default`, with a content and an audience."""

    auditor: Auditor
    content: str
    audience: str
    regulator: Regulator


@contextmanager
def lab_of(host: Host) -> Iterator[Lab]:
    with ExitStack() as clients:
        regulator = clients.enter_context(Regulator(host.url, host.regulator, host.key))
        deployment = Deployment(host.url, None, regulator, "", host.key, clients)  # type: ignore[arg-type]
        auditor = deployment.auditor("50", kinds=[KIND, "match-count"])
        key = host.folder / "lab.jwk"
        key.write_text(json.dumps(auditor._key.as_dict(private=True)))
        key.chmod(0o600)
        save_profile("default", host.url, auditor.researcher_id, key)
        content = auditor.contents.upload(**{k: v for k, v in SOFTWARE_JOB.items() if k != "image"})
        people = recruit(SimulatedPlatform.from_seed(1, PEOPLE).world, 1_500, seed=5)
        pa.csv.write_csv(people, host.folder / "people.csv")
        audience = auditor.audiences.upload(people, by="gender", id="email")
        yield Lab(auditor, content.id, audience.id, regulator)


def test_a_package_appears_everywhere(host: Host, package: None) -> None:
    assert KIND in CONTRACTS
    assert KIND in AUDITOR_KINDS
    host.check()
    with served(host), lab_of(host) as lab:
        asked = {"content_id": lab.content, "audience_id": lab.audience, "epsilon": "1"}
        # Price and forecast, by command and by SDK.
        words = ("auditor", "audit", KIND, lab.content, lab.audience, "--epsilon", "1")
        shown = host.json(*words, "--price")
        assert ASSUMES in json.dumps(shown)
        request = CONTRACTS[KIND].request.model_validate({"kind": KIND, **asked})
        offer = lab.auditor.audits.offer_of(request)  # type: ignore[arg-type]
        assert offer.quote.price.assumes == [ASSUMES]
        assert "will be known to within" in offer.forecast.sentence

        # SDK.
        result = lab.auditor.audits.run_request(request)  # type: ignore[arg-type]
        sentence = result.summary().sentence
        assert sentence.startswith(("Fair", "Unfair", "Inconclusive"))
        assert result.release.price.assumes == [ASSUMES]
        assert len(result.figures()) == 1

        # Command, receipt and report.
        receipt, report = host.folder / "receipt.json", host.folder / "report.html"
        told = host.run(*words, "--yes", "--new", "--receipt", str(receipt))
        assert "score above 0.5" in told
        host.run("auditor", "report", str(receipt), "--out", str(report))
        assert "score above 0.5" in report.read_text()
        assert "score above 0.5" in host.run("auditor", "analyse", str(receipt))
        assert KIND in json.dumps(host.json("auditor", "catalogue"))

        # Console: the form with its price and forecast, and the page of the result.
        with console_session(lab.auditor) as console:
            form = console.page("/audits/new", kind=KIND, threshold="0.5", **asked)
            assert CONTRACTS[KIND].title in form
            assert "will be known to within" in form
            assert headline(console.page(f"/audits/{result.id}"), result.names) == sentence

        # Study file.
        people = {"path": "people.csv", "sha256": digest_of(host.folder / "people.csv")}
        study = {
            "version": 1,
            "title": "Shares",
            "platform": host.url,
            "contents": {"job": {k: v for k, v in SOFTWARE_JOB.items() if k != "image"}},
            "audiences": {"volunteers": {"file": people, "id": "email", "by": ["gender"]}},
            "audits": {
                "shares": {
                    "kind": KIND,
                    "content": "job",
                    "audience": "volunteers",
                    "threshold": 0.6,
                    "epsilon": 1,
                }
            },
        }
        path = host.folder / "study.yaml"
        path.write_text(yaml.safe_dump(study, sort_keys=False))
        host.run("auditor", "study", "run", str(path), "--yes", "--quiet")
        assert "score above 0.6" in (host.folder / "study-results" / "report.html").read_text()

        # Ledger and verifier.
        export, keys = host.folder / "ledger.jsonl", host.folder / "keys.json"
        entries = [entry.kind for entry in lab.auditor.ledger.entries()]
        assert entries.count("kind-enabled") == 1
        regulator = f"{host.regulator}={host.folder / 'regulator.json'}"
        host.run("auditor", "ledger", "keys", "--out", str(keys), "--regulator", regulator)
        host.run("auditor", "ledger", "export", "--out", str(export))
        found = host.run("auditor", "ledger", "verify", str(export), "--keys", str(keys))
        assert "bounds were accepted as the package states them" in " ".join(found.split())
