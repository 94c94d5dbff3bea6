"""Two-party audits over a socket: what they find, what the platform keeps, and who may see what."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from joserfc.jwk import OKPKey
from sqlmodel import select
from typer.testing import CliRunner

from api.db import GroupRow
from api.kernel import errors
from api.kinds.two_party import values_of
from api.platforms.interfaces import Platform
from auditor_client import Auditor, InputError, Regulator, save_profile
from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.cli.app import app
from auditor_client.errors import (
    AuditFailedError,
    ConflictError,
    ForbiddenError,
    MandateError,
    NotReleasedError,
    ProblemError,
    TrustError,
    UnsupportedAuditError,
)
from auditor_client.kinds.two_party import metrics
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.ledger import make_trust, verify_file
from auditor_client.oversight import run_opening
from openapi.resources import Content
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, World, recruit
from privacy.two_party import Opening
from tests.refusals import refuses
from tests.system.raw import usernames
from tests.two_parties import EDGES, Conversation, auditor_at, one, regulator_jwk, weighted
from tests.world import Deployment, deployed, sqlite_url

# Of which 95 % are on the platform.
VOLUNTEERS = 400


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, biased_platform: Platform
) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("two-party"))
    with deployed(url, biased_platform) as running:
        yield running


@pytest.fixture(scope="module")
def biased_world(biased_platform: Platform) -> World:
    assert isinstance(biased_platform.people, SimulatedPlatform)
    return biased_platform.people.world


@pytest.fixture(scope="module")
def volunteers(biased_world: World) -> pa.Table:
    """With a label, and with a guess of it that is right in nine of ten."""
    table = recruit(biased_world, VOLUNTEERS, seed=5, twice=0.0)
    woman = np.array([name == "woman" for name in table["gender"].to_pylist()])
    sure = np.where(np.random.default_rng(1).random(len(woman)) < 0.9, woman, ~woman)
    soft = np.where(sure, 0.9, 0.1)
    return table.append_column("p_woman", pa.array(soft)).append_column("p_man", pa.array(1 - soft))


def job(auditor: Auditor) -> Content:
    return auditor.contents.upload(**SOFTWARE_JOB)


def run(
    service: Deployment, auditor: Auditor, people: WeightedAudience, epsilon: int = 10
) -> TwoPartyResult:
    return auditor.audits.two_party(
        metrics.histogram(job(auditor), EDGES),
        people,
        regulator_key=regulator_jwk(service),
        epsilon=epsilon,
        minimum_population=0,
        progress=False,
    )


def test_soft_labels_find_the_bias_that_hard_labels_find(
    service: Deployment, volunteers: pa.Table, tmp_path: Path
) -> None:
    auditor = auditor_at(service, kinds=["two-party", "score-histogram"])
    audience = auditor.audiences.upload(volunteers, id="email", by="gender", progress=False)
    shown = auditor.audits.run(job(auditor), audience, bins=EDGES, epsilon=10, progress=False)
    hard = run(service, auditor, auditor.audiences.upload_weighted(volunteers, "email", "gender"))
    people = auditor.audiences.upload_weighted(volunteers, "email", ["p_woman", "p_man"])
    soft = run(service, auditor, people)
    for name, counts in shown.counts.items():
        ours = hard.sums.values[hard.groups.index(name)]
        # Noise of scale 1/10 on each side: beyond 2.5 with a probability below 1e-10.
        assert np.abs(ours - counts).max() < 2.5
    gaps = [abs(found.ratios(0).difference(0, 1, delta=1e-6).value) for found in (hard, soft)]
    of_labels, of_guesses = gaps
    # A guess that is right in nine of ten and says .9 leaves (2·.9 − 1)² = .64 of a difference.
    assert of_labels > 0.5
    assert 0.4 * of_labels < of_guesses < 0.9 * of_labels
    again = auditor.audits.result(soft.id)
    assert isinstance(again, TwoPartyResult)
    assert np.array_equal(again.sums.values, soft.sums.values)
    assert soft.release.price.assumes == ["bounded-weights"]
    # The platform's store knows of one group of people, and of no name or share.
    with service.service.store.read() as session:
        query = select(GroupRow.label).where(GroupRow.audience_id == people.id)
        assert session.exec(query).all() == ["g0"]
    held = b"".join(file.read_bytes() for file in database_files(service))
    assert people.id.encode() in held
    assert not any(name.encode() in held for name in ("p_woman", "p_man", "gender"))
    # And everything of it verifies offline.
    service.service.checkpointer().once()
    regulator = service.regulator
    jwks = {regulator.researcher_id: regulator_jwk(service)}
    trust = make_trust(regulator.ledger.keys(), jwks)
    found = verify_file(regulator.ledger.export(tmp_path / "ledger.jsonl"), trust)
    assert found.counts["answer"] >= 2


def database_files(service: Deployment) -> list[Path]:
    """Return the files of the platform's database, with its write-ahead log."""
    path = Path(service.service.settings.database_url.removeprefix("sqlite:///"))
    return [file for file in path.parent.iterdir() if file.name.startswith(path.name)]


def test_a_mandate_must_name_the_kind_and_the_key_must_be_the_regulators(
    service: Deployment, biased_world: World
) -> None:
    other = auditor_at(service, kinds=["score-histogram", "match-count"])
    with pytest.raises(MandateError, match=r"\btwo-party\b"):
        run(service, other, one(other, biased_world, stranger=False))
    auditor = auditor_at(service)
    foreign = {"kty": "OKP", "crv": "Ed25519", "x": 43 * "A"}
    with refuses(TrustError, "another-key"):
        auditor.audits.two_party(
            metrics.histogram(job(auditor), EDGES),
            one(auditor, biased_world, stranger=False),
            regulator_key=foreign,
            minimum_population=0,
            progress=False,
        )
    [left] = auditor.audits.list()
    assert auditor.audits.cancel(left.id).state == "cancelled"


def test_an_audience_with_groups_will_not_do(service: Deployment, biased_world: World) -> None:
    auditor = auditor_at(service)
    people = one(auditor, biased_world, stranger=False)
    plain = auditor.audiences.upload(
        pa.table({"username": ["ada"], "group": ["a"]}), id="username", by="group", progress=False
    )
    with refuses(UnsupportedAuditError, "no-order"):
        run(service, auditor, WeightedAudience(plain, people.weights))


def test_a_run_that_is_drawn_waits_for_the_regulator(
    service: Deployment, biased_world: World, tmp_path: Path
) -> None:
    auditor = auditor_at(service, opened_share="1")
    talk = Conversation.begin(service, auditor, one(auditor, biased_world, stranger=False))
    party = talk.party()
    with refuses(errors.NotReleasedError, "not-opened"):
        talk.talk(party)
    assert talk.state == "running"
    with pytest.raises(NotReleasedError):
        auditor.audits.result(talk.audit.id)
    key = tmp_path / "regulator.json"
    key.touch(mode=0o600)
    key.write_text(json.dumps(service.regulator._key.as_dict(private=True)))
    save_profile("regulator", service.url, service.regulator.researcher_id, key)
    cli = CliRunner()
    listed = cli.invoke(app, ["regulator", "runs", "-p", "regulator", "--json"])
    assert talk.audit.id in listed.stdout
    assert "opening" in listed.stdout
    assert_others_cannot_open(service, talk.audit.id)
    opened = cli.invoke(app, ["regulator", "open", talk.audit.id, "-p", "regulator", "--json"])
    assert opened.exit_code == 0, opened.output
    assert '"honest": true' in opened.stdout
    assert talk.talk(party) is None
    assert talk.state == "released"
    assert talk.entries("opening") == talk.entries("answer") == talk.entries("release") == 1


def assert_others_cannot_open(service: Deployment, audit_id: str) -> None:
    """A wrong key would find faults that do not exist, and accuse honest auditors."""
    key = OKPKey.generate_key("Ed25519")
    jwk = key.as_dict(private=False)
    person = service.regulator.researchers.add(name="Eve", jwk=jwk, role="regulator")
    with Regulator(service.url, person.id, key) as other:
        with refuses(InputError, "another-key"):
            other.open_run(audit_id)
        [run] = [each for each in other.waiting_runs() if each.audit_id == audit_id]
        with refuses(ForbiddenError, "sealed-to-another"):
            run_opening.state(other._statements, run, Opening(()))
    # What a regulator found in other messages says nothing about these.
    foreign = run.model_copy(update={"transcript": f"sha256:{'0' * 64}"})
    with refuses(ConflictError, "another-transcript"):
        run_opening.state(service.regulator._statements, foreign, Opening(()))


def test_the_next_checkpoint_draws_which_runs_are_opened(
    service: Deployment, biased_world: World
) -> None:
    auditor = auditor_at(service, opened_share="0.5")
    mine = auditor.budget().mandates[0].auditor_id
    done: list[TwoPartyResult] = []

    def ask() -> None:
        done.append(run(service, auditor, one(auditor, biased_world, stranger=False)))

    waiting = threading.Thread(target=ask)
    waiting.start()
    until = time.monotonic() + 30
    opened = 0
    while waiting.is_alive() and time.monotonic() < until:
        for stored in service.regulator.waiting_runs():
            if stored.awaited == "opening" and stored.auditor_id == mine:
                opened += service.regulator.open_run(stored.audit_id).honest
        waiting.join(0.1)
    [found] = done
    entries = service.regulator.ledger.entries(kind="release")
    [facts] = [entry.facts for entry in entries if entry.facts["audit_id"] == found.id]
    assert facts["transcript"] == found.release.transcript
    drawn = two_party_drawn(facts["draw"]["root"], found.id)
    assert opened == drawn


def two_party_drawn(root: str, audit_id: str) -> int:
    """The rule of docs/explanation/two-party.md, once more."""
    from hashlib import sha256

    tag = b"platform-auditor/two-party/v1/draw"
    return int(sha256(tag + bytes.fromhex(root) + audit_id.encode()).digest()[0] < 128)


def test_bad_messages_are_problems_and_do_no_harm(service: Deployment, biased_world: World) -> None:
    auditor = auditor_at(service)
    talk = Conversation.begin(service, auditor, one(auditor, biased_world, stranger=False))
    talk.service = service.service
    path = f"/v1/audits/{talk.audit.id}/exchange"

    def post(body: bytes, media_type: str = "application/octet-stream") -> bytes:
        headers = {"content-type": media_type}
        sent = auditor._transport.send("POST", path, content=body, headers=headers)
        return bytes(sent.content)

    def refused(body: bytes, media_type: str = "application/octet-stream") -> ProblemError:
        with pytest.raises(ProblemError) as caught:
            post(body, media_type)
        return caught.value

    party = talk.party()
    hello = party.start()
    assert refused(b"").code == refused(b"rubbish" * 40).code == "begin-again"
    assert refused(hello[:-1]).code == "message-refused"
    assert refused(hello, "application/json").code == "unsupported-media-type"
    assert refused(bytes(service.service.settings.max_part_bytes + 1)).code == "too-large"
    message: bytes | None = party.receive(post(hello))
    last = hello
    while message is not None:
        last = message
        assert refused(message + b"!").code == "message-refused"
        assert refused(message[:40]).code == "message-refused"
        flipped = bytes([*message[:20], message[20] ^ 1, *message[21:]])
        assert refused(flipped).code == "message-refused"
        reply = post(message)
        assert post(message) == reply
        message = party.receive(reply)
    assert party.sums is not None
    assert talk.state == "released"
    assert talk.charges() == talk.entries("answer") == 1
    assert refused(talk.party().start()).code == "message-refused"
    assert post(last) == reply
    other = auditor_at(service)
    with pytest.raises(ProblemError, match=r"\[not-found\]"):
        other._transport.send(
            "POST", path, content=hello, headers={"content-type": "application/octet-stream"}
        )


def test_a_run_with_findings_is_never_delivered(service: Deployment, biased_world: World) -> None:
    auditor = auditor_at(service, opened_share="1")
    talk = Conversation.begin(service, auditor, one(auditor, biased_world, stranger=False))
    party = talk.party()
    party._weights = np.full((1, 1), 2_000, np.int64)
    with refuses(errors.NotReleasedError, "not-opened"):
        talk.talk(party)
    found = service.regulator.open_run(talk.audit.id)
    assert "weight-out-of-bounds" in {finding.code for finding in found.findings}
    assert talk.state == "failed"
    with refuses(errors.ConflictError, "failed"):
        talk.talk(party)
    with refuses(AuditFailedError, "failed", "opened"):
        auditor.audits.finish(talk.audit.id, progress=False)
    assert talk.charges() == 1


def test_the_command_does_it_all(service: Deployment, volunteers: pa.Table, tmp_path: Path) -> None:
    auditor = auditor_at(service)
    key, metric = tmp_path / "regulator.pub.jwk", tmp_path / "metric.json"
    key.write_text(json.dumps(regulator_jwk(service)))
    asked = metrics.histogram(job(auditor), EDGES)
    metric.write_text(asked.model_dump_json())
    pa_csv.write_csv(volunteers.select(["email", "p_woman", "p_man"]), tmp_path / "people.csv")
    own = tmp_path / "auditor.jwk"
    own.touch(mode=0o600)
    own.write_text(json.dumps(auditor._key.as_dict(private=True)))
    save_profile("researcher", service.url, auditor.researcher_id, own)
    command = ["audit", "two-party", str(tmp_path / "people.csv"), "--metric", str(metric)]
    command += ["--id", "email", "--groups", "p_woman,p_man", "--regulator-key", str(key)]
    receipt = tmp_path / "receipt.json"
    command += ["--epsilon", "10", "--receipt", str(receipt), "-p", "researcher", "--json"]
    command += ["--tolerance", "0.1"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    # 95 % are on the platform, 83 % of whom gave it an address: always the same ones, and noise.
    assert sum(shown["sum"]) == pytest.approx(0.95 * 0.98 * 0.85 * VOLUNTEERS, abs=15)
    assert shown["verdict"] == "unfair"
    # Shares of .9 and .1, nine to one either way: (2·.9 − 1)² of a difference is left.
    assert [words.split()[0] for words in shown["left of a difference"]] == ["p_woman", "p_man"]
    assert 55 < int(shown["left of a difference"][0].split()[1].rstrip("%")) < 75
    assert shown["sentence"].startswith("Unfair")
    assert TwoPartyResult.from_receipt(receipt).groups == ("p_woman", "p_man")


def test_lists_in_which_people_meet_are_measured_for_either_side(
    service: Deployment, biased_world: World, biased_platform: Platform
) -> None:
    auditor = auditor_at(service)
    names = usernames(biased_world, 600)
    people = weighted(auditor, names, ["a", "b"] * 300)
    everyone = biased_platform.people.match("username", pa.array(names))
    # Nobody is in more than 40 of these lists, or shown more than 40: all count, whatever the lot.
    for metric in (
        metrics.ndcg("pymk-viewers", "outcome", 3, per_viewer=1, per_candidate=40),
        metrics.pot(
            "pymk-viewers", "score", "outcome", (0, 1), [0.3], 0.3, per_viewer=40, per_candidate=40
        ),
    ):
        found = auditor.audits.two_party(
            metric, people, regulator_key=regulator_jwk(service), epsilon=10, progress=False
        )
        asked = auditor.audits.requests.two_party(metric, people, epsilon=10)
        plain = values_of(asked, [], biased_platform)(everyone).reshape(300, 2, -1).sum(axis=0)
        assert plain.min() > 25_000
        away = np.abs(found.sums.values - plain / found.metric.layout.scale)
        unit = 1_000 * found.metric.layout.scale
        assert found.part("sums").noise_scale == metric_reach(found) / 10
        # Discrete Laplace noise: beyond 25 times its scale with a probability below 3e-11 each.
        assert away.max() < 25 * found.part("sums").noise_scale / unit
        assert found.ratios(0).groups == ("a", "b")
        assert "places in other people's lists are blank" in " ".join(found.release.rules)


def metric_reach(found: TwoPartyResult) -> int:
    layout = found.metric.layout
    assert layout.moved > 0
    return 1_000 * (layout.total + layout.moved)


def test_groups_of_few_people_are_refused_before_they_are_paid(
    service: Deployment, biased_world: World
) -> None:
    auditor = auditor_at(service)
    before = auditor.budget().mandates[0].remaining
    with refuses(InputError, "few-people", 10):
        auditor.audits.two_party(
            metrics.histogram(job(auditor), EDGES),
            one(auditor, biased_world, stranger=False),
            regulator_key=regulator_jwk(service),
            progress=False,
        )
    assert auditor.budget().mandates[0].remaining == before
