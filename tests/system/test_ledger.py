"""The ledger of a running service: signed heads, proofs, exports, witnesses, and their verifier."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from joserfc.jwk import OKPKey
from sqlmodel import col, delete, select, update

from api.db import CheckpointRow, EntryRow, LedgerEndRow
from api.ledger import key_rotation as service_keys
from api.ledger.checkpoints import issue_checkpoint
from api.ledger.entries import lock
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.errors import (
    ForbiddenError,
    LedgerError,
    NotFoundError,
    ReceiptError,
    RequestError,
)
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.ledger import Ledger, make_trust, verify_file, verify_receipt
from auditor_client.ledger.seen_checkpoints import remember
from auditor_client.local.saved_receipt import SavedReceipt
from openapi.resources import Entry, Page
from platform_sim import SOFTWARE_JOB, World
from privacy.ledger.merkle import leaf_hash
from privacy.ledger.notes import Checkpoint, VerifierKey, sign_checkpoint
from privacy.ledger.trust import Trust
from tests.refusals import refuses
from tests.system.raw import raw, usernames
from tests.world import Deployment, deployed


def trust_of(deployment: Deployment) -> Trust:
    """Return the trusted keys that a regulator of this deployment would put into a file."""
    regulator = deployment.regulator
    jwk = regulator._key.as_dict(private=False)
    return make_trust(regulator.ledger.keys(), {regulator._researcher_id: jwk})


@pytest.fixture(scope="module")
def auditor(deployment: Deployment) -> Auditor:
    return deployment.auditor(epsilon="50")


@pytest.fixture(scope="module")
def finished(auditor: Auditor, world: World) -> ScoreHistogramResult:
    names = usernames(world, 40)
    content = auditor.contents.upload(**SOFTWARE_JOB)
    table = pa.table({"username": names, "group": ["a", "b"] * 20})
    audience = auditor.audiences.upload(table, id="username", by="group")
    return auditor.audits.run(content, audience, bins=4, epsilon=1, progress=False)


def signed(deployment: Deployment) -> None:
    """Sign the head now, as the service does every few seconds."""
    deployment.service.checkpointer().once()


def test_an_honest_ledger_verifies(
    deployment: Deployment, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    signed(deployment)
    for name in ("ledger.jsonl", "ledger.parquet"):
        path = deployment.regulator.ledger.export(tmp_path / name)
        found = verify_file(path, trust_of(deployment))
        assert found.counts["charge"] == found.counts["release"] >= 1
        assert found.size == sum(found.counts.values())


def test_the_price_of_sizes_is_checked_against_what_the_audience_says(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    another = deployment.auditor(epsilon="50")
    content = another.contents.upload(**SOFTWARE_JOB)
    sample = another.audiences.sample("gender", {"woman": 20, "man": 20})
    another.audits.run(content, sample, bins=4, epsilon=1, progress=False)
    signed(deployment)
    for who, sizes, debit in ((auditor, "noisy", "2.5"), (another, "known", "2")):
        assert [entry.facts["sizes"] for entry in who.ledger.entries("audience")] == [sizes]
        assert [entry.facts["debit"] for entry in who.ledger.entries("charge")] == [debit]
        verify_file(who.ledger.export(tmp_path / "mine.jsonl"), trust_of(deployment))


def test_an_auditor_verifies_its_own_entries(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    deployment.auditor()
    signed(deployment)
    found = verify_file(auditor.ledger.export(tmp_path / "mine.jsonl"), trust_of(deployment))
    assert found.auditor == auditor.budget().mandates[0].auditor_id
    assert found.counts["release"] == 1
    assert {entry.auditor_id for entry in auditor.ledger.entries()} == {found.auditor, None}


def test_a_receipt_with_its_proof_verifies_offline(
    deployment: Deployment, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    signed(deployment)
    saved = SavedReceipt.load(finished.save_receipt(tmp_path / "receipt.json"))
    assert verify_receipt(saved, trust_of(deployment)).audit_id == finished.id


def test_a_receipt_of_other_numbers_or_another_entry_is_refused(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    signed(deployment)
    trust = trust_of(deployment)
    saved = SavedReceipt.load(finished.save_receipt(tmp_path / "receipt.json"))
    assert saved.proof is not None
    [content] = list(auditor.ledger.entries("content"))
    other = auditor.ledger.proof(content.number)
    bent = saved.proof.model_copy(update={"path": saved.proof.path[:-1]})
    for proof in (None, other, bent, saved.proof.model_copy(update={"number": 0})):
        with pytest.raises(ReceiptError):
            verify_receipt(replace(saved, proof=proof), trust)
    with refuses(ReceiptError, "wrong-signature"):
        verify_receipt(saved, replace(trust, receipts=(OKPKey.generate_key().as_dict(),)))


def test_an_auditor_sees_no_entry_of_another(deployment: Deployment, auditor: Auditor) -> None:
    stranger = deployment.auditor()
    signed(deployment)
    [mine] = list(auditor.ledger.entries("auditor"))
    with pytest.raises(NotFoundError):
        stranger.ledger.proof(mine.number)
    assert mine.number not in {entry.number for entry in stranger.ledger.entries()}


def test_the_feed_gives_every_entry_once_in_order(deployment: Deployment, auditor: Auditor) -> None:
    numbers: list[int] = []
    while page := auditor._transport.get(
        "/v1/ledger/feed", Page[Entry], limit="2", after=str(numbers[-1]) if numbers else None
    ).items:
        numbers += [entry.number for entry in page]
    assert numbers == sorted(entry.number for entry in auditor.ledger.entries())


def test_a_witness_signs_what_continues_what_it_saw(
    deployment: Deployment, auditor: Auditor, tmp_path: Path
) -> None:
    trust = trust_of(deployment)
    deployment.auditor()
    signed(deployment)
    cosigned = deployment.regulator.ledger.cosign(trust)
    assert deployment.regulator._researcher_id in cosigned.note
    deployment.auditor()
    signed(deployment)
    assert auditor.ledger.head(trust, [cosigned.note]).size > cosigned.size
    path = deployment.regulator.ledger.export(tmp_path / "ledger.jsonl")
    assert verify_file(path, trust, witnessed=[cosigned.note]).size > cosigned.size
    with pytest.raises(ForbiddenError):
        auditor.ledger.cosign(trust)


def test_a_cosignature_by_another_key_is_refused(deployment: Deployment) -> None:
    signed(deployment)
    ledger = deployment.regulator.ledger
    impostor = Ledger(ledger._transport, ledger._public, ledger._maker, OKPKey.generate_key())
    with refuses(RequestError, "wrong-cosignature"):
        impostor.cosign(trust_of(deployment))


def test_the_ledger_key_is_rotated_without_a_gap(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    before = trust_of(deployment)
    rotate(deployment)
    deployment.auditor()
    rotate(deployment)
    deployment.auditor()
    signed(deployment)
    path = deployment.regulator.ledger.export(tmp_path / "ledger.jsonl")
    assert len(deployment.regulator.ledger.keys().ledger) >= 3
    assert verify_file(path, before).size == verify_file(path, trust_of(deployment)).size


def test_an_auditors_own_export_follows_the_key_and_continues_what_was_seen(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    before = trust_of(deployment)
    signed(deployment)
    old = auditor.ledger.head(before).size  # this machine has seen it from now on
    rotate(deployment)
    deployment.auditor()
    signed(deployment)
    for name in ("mine.jsonl", "mine.parquet"):
        found = verify_file(auditor.ledger.export(tmp_path / name), before)
        assert found.size > old
        assert found.counts["signing-key"] >= 3
    header = json.loads((tmp_path / "mine.jsonl").read_bytes().splitlines()[0])
    assert str(old) in header["consistency"]
    seen = [note.split("\n")[1] for note in header["checkpoints"]]
    assert {size for size in seen if size != str(header["size"])} <= header["consistency"].keys()


def test_an_auditors_own_export_of_another_branch_is_found(
    deployment: Deployment, auditor: Auditor, finished: ScoreHistogramResult, tmp_path: Path
) -> None:
    trust = trust_of(deployment)
    signed(deployment)
    size = auditor.ledger.head(trust).size
    root = Checkpoint(trust.origin, size, bytes(32))
    key = deployment.service.auth.keys.current("ledger")
    remember(trust.origin, sign_checkpoint(root, [(trust.origin, key)]))
    deployment.auditor()
    signed(deployment)
    path = auditor.ledger.export(tmp_path / "mine.jsonl")
    with refuses(LedgerError, "forked"):
        verify_file(path, trust)


def test_an_export_is_not_asked_for_the_impossible(
    deployment: Deployment, auditor: Auditor
) -> None:
    signed(deployment)
    me = raw(deployment, auditor)
    for seen, status in (("0", 422), ("x", 422), (str(2**70), 422), (str(2**40), 200)):
        assert me.get(f"/v1/ledger/export?seen={seen}").status_code == status
    many = "&".join(f"seen={number}" for number in range(1, 22))
    assert me.get(f"/v1/ledger/export?{many}").status_code == 422


def test_a_key_that_nobody_handed_on_is_not_trusted(deployment: Deployment, tmp_path: Path) -> None:
    signed(deployment)
    path = deployment.regulator.ledger.export(tmp_path / "ledger.jsonl")
    trust = trust_of(deployment)
    alien = VerifierKey.of(trust.origin, OKPKey.generate_key())
    with pytest.raises(LedgerError):
        verify_file(path, replace(trust, ledger=(alien,)))


class TestALyingPlatform:
    """It holds the database and the ledger's key. Each lie is found by somebody who saw more."""

    @pytest.fixture
    def own(self, new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
        with deployed(new_database(), platform) as running:
            running.auditor()
            signed(running)
            yield running

    def test_it_rewrites_the_past(self, own: Deployment, tmp_path: Path) -> None:
        trust = trust_of(own)
        own.regulator.ledger.head(trust)
        rewrite(own, "mandate", '"purpose":"test"', '"purpose":"none"')
        with refuses(LedgerError, "rewritten"):
            own.regulator.ledger.head(trust)
        path = own.regulator.ledger.export(tmp_path / "ledger.jsonl")
        with pytest.raises(LedgerError):
            verify_file(path, trust)

    def test_it_forges_a_mandate_for_those_who_never_looked(
        self, own: Deployment, tmp_path: Path
    ) -> None:
        number = rewrite(own, "mandate", '"epsilon_limit":"100"', '"epsilon_limit":"900"')
        path = own.regulator.ledger.export(tmp_path / "ledger.jsonl")
        with refuses(LedgerError, "wrong-signature", f"entry {number}"):
            verify_file(path, trust_of(own), memory=False)

    def test_it_restores_a_backup_that_lost_entries(self, own: Deployment, tmp_path: Path) -> None:
        trust = trust_of(own)
        size = own.regulator.ledger.head(trust).size
        lose(own, size - 2)
        with refuses(LedgerError, "hidden-entries"):
            own.regulator.ledger.head(trust)
        own.auditor()
        signed(own)
        with refuses(LedgerError, "rewritten"):
            own.regulator.ledger.head(trust)
        path = own.regulator.ledger.export(tmp_path / "ledger.jsonl")
        with pytest.raises(LedgerError):
            verify_file(path, trust)

    def test_it_hides_what_a_witness_signed_from_somebody_new(self, own: Deployment) -> None:
        trust = trust_of(own)
        witnessed = own.regulator.ledger.cosign(trust)
        lose(own, witnessed.size - 2)
        newcomer = own.auditor()
        with pytest.raises(LedgerError):
            newcomer.ledger.head(trust, [witnessed.note])


def rotate(deployment: Deployment) -> None:
    service = deployment.service
    service_keys.rotate(service.store, service.auth.keys, service.origin, "operator")


def rewrite(deployment: Deployment, kind: str, old: str, new: str) -> int:
    """Change an entry, and every hash and head with it."""
    with deployment.service.store.write() as session:
        query = select(EntryRow).where(EntryRow.kind == kind)
        row = session.exec(query.order_by(col(EntryRow.number).desc())).first()
        assert row is not None
        assert old in row.text
        row.text = row.text.replace(old, new)
        row.leaf = leaf_hash(row.text.encode())
        session.add(row)
        session.exec(delete(CheckpointRow))
        session.flush()
        key = deployment.service.auth.keys.current("ledger")
        issue_checkpoint(session, [key], deployment.service.origin, lock(session))
        return row.number


def lose(deployment: Deployment, size: int) -> None:
    """The database as it was when the ledger had this size, the head signed anew."""
    with deployment.service.store.write() as session:
        at = lock(session)
        session.exec(delete(EntryRow).where(col(EntryRow.number) >= size))
        session.exec(delete(CheckpointRow))
        session.exec(update(LedgerEndRow).values(size=size))
        session.flush()
        session.expire_all()
        key = deployment.service.auth.keys.current("ledger")
        issue_checkpoint(session, [key], deployment.service.origin, at)
