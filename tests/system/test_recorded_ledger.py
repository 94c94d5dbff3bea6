"""A ledger of a running service, with a charge of every kind, leaves its verifier no question."""

import json
from pathlib import Path

from auditor_client.ledger import read_trust, verify_file
from auditor_client.local.saved_receipt import verify_release
from openapi.kinds.registry import CONTRACTS
from platform_sim import SimulatedPlatform
from privacy.ledger.entries import FORMAT
from tests.system.raw import usernames
from tests.vectors.ledger.recording import record
from tests.world import deployed, small_platform, sqlite_url


def test_every_kind_is_charged_so_that_all_of_it_verifies(tmp_path: Path) -> None:
    platform = small_platform()
    assert isinstance(platform.people, SimulatedPlatform)
    names = usernames(platform.people.world, 400)
    with deployed(sqlite_url(tmp_path), platform, two_party_candidates=6_000) as running:
        record(running, names, tmp_path)
    trust = read_trust(tmp_path / "recorded-keys.json")
    found = verify_file(tmp_path / "recorded.jsonl", trust, memory=False)
    assert not found.notices
    lines = (tmp_path / "recorded.jsonl").read_bytes().splitlines()[1:]
    charges = [entry for entry in map(json.loads, lines) if entry["kind"] == "charge"]
    kinds = {entry["statement"]["body"]["kind"] for entry in charges}
    assert kinds == set(CONTRACTS)
    assert {entry["facts"]["format"] for entry in charges} == {FORMAT}
    keys = {"keys": [dict(jwk) for jwk in trust.receipts]}
    by_audit = {entry["facts"]["audit_id"]: entry["facts"]["parts"] for entry in charges}
    for stored in (tmp_path / "recorded-releases.jsonl").read_bytes().splitlines():
        release = verify_release(stored, keys)
        stated = json.loads(stored)["price"]["parts"]
        charged = by_audit[release.audit_id]
        assert [{name: part[name] for name in charged[0]} for part in stated] == charged
