"""Studies, registered by digest: the ledger names them, in the order in which they came."""

import secrets
from pathlib import Path

import pytest

from auditor_client.errors import ForbiddenError, InputError
from auditor_client.ledger import make_trust, verify_file
from auditor_client.vetting.study_registration import Studies
from tests.system.raw import raw, refused
from tests.world import Deployment

pytestmark = pytest.mark.long_on_postgresql


def new_digest() -> str:
    return f"sha256:{secrets.token_hex(32)}"


def test_a_study_is_registered_once_and_the_first_time_counts(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    digest = new_digest()
    first = auditor.studies.register(digest)
    assert (first.digest, first.by) == (digest, auditor.researcher_id)
    other = auditor.studies.register(new_digest())
    assert other.entry > first.entry
    assert auditor.studies.register(digest) == first
    assert auditor.studies.list() == [other, first]
    [newest, oldest] = auditor.ledger.entries("registration")
    assert [newest.number, oldest.number] == [other.entry, first.entry]
    assert oldest.statement
    assert oldest.statement.body == {"digest": digest}


def test_a_colleague_finds_it_registered_and_a_stranger_does_not(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    digest = new_digest()
    first = auditor.studies.register(digest)
    [mandate] = auditor.budget().mandates
    colleague = deployment.researcher(mandate.auditor_id)
    assert colleague.studies.register(digest) == first
    stranger = deployment.auditor()
    assert stranger.studies.list() == []
    assert stranger.studies.register(digest).entry > first.entry


def test_registrations_come_in_pages(deployment: Deployment) -> None:
    auditor = deployment.auditor()
    made = [auditor.studies.register(new_digest()) for _ in range(3)]
    me = raw(deployment, auditor)
    page = me.get("/v1/studies", params={"limit": 2}).json()
    assert [item["entry"] for item in page["items"]] == [made[2].entry, made[1].entry]
    rest = me.get("/v1/studies", params={"limit": 2, "cursor": page["next"]}).json()
    assert [item["entry"] for item in rest["items"]] == [made[0].entry]
    assert rest["next"] is None


def test_a_registration_verifies_offline(deployment: Deployment, tmp_path: Path) -> None:
    auditor = deployment.auditor()
    auditor.studies.register(new_digest())
    deployment.service.checkpointer().once()
    regulator = deployment.regulator
    keys = {regulator.researcher_id: regulator._key.as_dict(private=False)}
    trust = make_trust(regulator.ledger.keys(), keys)
    for name, who in (("all", regulator), ("mine", auditor)):
        path = who.ledger.export(tmp_path / f"{name}.jsonl")
        assert verify_file(path, trust, memory=False).counts["registration"] >= 1


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "A" * 64, "md5:" + "0" * 64])
def test_what_is_no_digest_is_refused(deployment: Deployment, digest: str) -> None:
    auditor = deployment.auditor()
    with pytest.raises(InputError):
        auditor.studies.register(digest)
    answer = raw(deployment, auditor).state("/v1/studies", {"digest": digest})
    refused(answer, "invalid-request", "digest")
    assert auditor.studies.list() == []


def test_only_researchers_register(deployment: Deployment) -> None:
    with pytest.raises(ForbiddenError):
        Studies(deployment.regulator._statements).register(new_digest())


def test_a_researcher_without_a_mandate_may_register(deployment: Deployment) -> None:
    assert deployment.auditor(epsilon="0").studies.register(new_digest()).entry > 0
