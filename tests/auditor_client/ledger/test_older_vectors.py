"""Ledgers and receipts of format 2, as earlier versions wrote them, still verify; bad ones do not.

`recorded.jsonl` is the ledger of a real service: a charge of every kind of that time.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor_client.errors import ReceiptError
from auditor_client.ledger import verify_receipt
from auditor_client.local.saved_receipt import SavedReceipt, verify_release
from openapi.kinds.registry import CONTRACTS
from privacy.errors import InvalidLedgerError
from privacy.ledger.trust import Trust
from privacy.ledger.verify import Verified, verify
from tests.refusals import refuses
from tests.vectors.ledger import GOOD, KEYS, OLDER, Twin, lines_of, twins

TRUST = Trust.parse((OLDER / KEYS).read_bytes())
RECORDED = Trust.parse((OLDER / "recorded-keys.json").read_bytes())
ALL = twins(OLDER)
RELEASES = (OLDER / "recorded-releases.jsonl").read_bytes().splitlines()


def checked(
    name: str,
    lines: list[str],
    folder: Path,
    seen: Sequence[str] = (),
    witnessed: Sequence[str] = (),
) -> Verified | None:
    if name == "receipt.json":
        file = folder / name
        file.write_text("\n".join(lines), encoding="utf-8")
        verify_receipt(SavedReceipt.load(file), TRUST)
        return None
    first, *entries = (line.encode() for line in lines)
    return verify(first, entries, TRUST, seen=seen, witnessed=witnessed)


@pytest.mark.parametrize("name", GOOD)
def test_what_was_good_still_verifies(name: str, tmp_path: Path) -> None:
    checked(name, lines_of(name, OLDER), tmp_path)


@pytest.mark.parametrize("twin", ALL, ids=[twin.name for twin in ALL])
def test_what_was_bad_is_still_found(twin: Twin, tmp_path: Path) -> None:
    with refuses((InvalidLedgerError, ReceiptError), twin.case) as found:
        checked(twin.of, twin.lines(OLDER), tmp_path, seen=twin.seen, witnessed=twin.witnessed)
    if isinstance(found.value, InvalidLedgerError):
        assert found.value.number == twin.entry


def test_the_recorded_ledger_of_a_service_verifies() -> None:
    first, *entries = (line.encode() for line in lines_of("recorded.jsonl", OLDER))
    found = verify(first, entries, RECORDED)
    assert found.size == len(entries)
    charged = [json.loads(line) for line in entries]
    kinds = {each["statement"]["body"]["kind"] for each in charged if each["kind"] == "charge"}
    assert len(kinds) == 11
    assert kinds <= set(CONTRACTS)


@pytest.mark.parametrize("stored", RELEASES, ids=[json.loads(each)["kind"] for each in RELEASES])
def test_a_release_of_a_service_verifies(stored: bytes) -> None:
    release = verify_release(stored, {"keys": [dict(jwk) for jwk in RECORDED.receipts]})
    for part in release.price.parts:
        assert (part.bounds, part.sensitivity, part.parameter) == (None, None, None)
        assert isinstance(part.scale, float)
        assert part.noise_scale == part.scale
