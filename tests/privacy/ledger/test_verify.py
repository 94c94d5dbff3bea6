"""An honest ledger verifies for all signers and keys; other files are refused with a reason."""

import gc
import json

import pytest
from joserfc.jwk import ECKey, Key, RSAKey

from privacy.errors import EvidenceError, InvalidLedgerError
from privacy.ledger.balances import MandateBalance
from privacy.ledger.notes import SignatureType, VerifierKey
from privacy.ledger.replay import Replay
from privacy.ledger.trust import Trust
from privacy.ledger.verify import verify
from privacy.receipts import canonical, digest
from tests.ledgers import (
    OPERATOR,
    ORIGIN,
    REGULATOR,
    Ledger,
    Maker,
    ed25519,
    header,
    identifier,
    mandate_body,
    public,
    relied,
    trust,
    witnessed,
)
from tests.refusals import refuses


def honest(audits: int = 3) -> tuple[Ledger, Maker, str]:
    ledger = Ledger.begun()
    lab = ledger.auditor()
    ada = ledger.researcher(lab)
    mandate = ledger.mandate(lab)
    for _ in range(audits):
        ledger.audit(ada, mandate)
    return ledger, ada, mandate


def test_an_honest_ledger_verifies_and_says_what_it_holds() -> None:
    ledger, _, _ = honest(3)
    found = ledger.verified()
    assert found.size == len(ledger.lines) == 18
    assert found.counts["charge"] == found.counts["release"] == 3
    assert found.note == ledger.notes[-1]
    assert found.root == found.checkpoint.root


def test_lines_may_have_their_ends() -> None:
    first, lines = honest()[0].export()
    assert verify(first + b"\n", [line + b"\n" for line in lines], trust()).size == len(lines)


def test_the_ledger_lock_is_released_without_a_collection() -> None:
    """Charges of a rolling limit wait in their mandate: if they held it too, nothing would go."""
    ledger = Ledger.begun()
    lab = ledger.auditor()
    ada = ledger.researcher(lab)
    rolling = {"kind": "rolling", "days": 30}
    ledger.audit(ada, ledger.mandate(lab, renewal=rolling, lifetime_limit="20"))
    gc.collect()
    gc.disable()
    try:
        ledger.verified()
        assert not [each for each in gc.get_objects() if type(each) in (MandateBalance, Replay)]
    finally:
        gc.enable()


def test_a_later_export_agrees_with_what_was_seen_and_witnessed() -> None:
    ledger, ada, mandate = honest()
    seen = ledger.verified().note
    ledger.audit(ada, mandate)
    cosigned = witnessed(ledger.sign())
    ledger.audit(ada, mandate)
    assert verify(*ledger.export(), trust(), seen=[seen], witnessed=[cosigned]).size == 26


def test_the_new_ledger_key_is_trusted_from_the_checkpoint_of_both_keys() -> None:
    ledger, ada, mandate = honest()
    for name in ("second", "third"):
        ledger.rotate(ed25519(name))
        ledger.audit(ada, mandate)
    assert ledger.verified().size == len(ledger.lines)


def test_an_empty_ledger_verifies() -> None:
    assert verify(*relied([]), trust()).size == 0


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-256"), "ES256"),
        (ECKey.generate_key("P-384"), "ES384"),
        (RSAKey.generate_key(2048), "RS256"),
        (RSAKey.generate_key(2048), "PS256"),
    ],
)
def test_other_kinds_of_keys_sign_as_well(key: Key, algorithm: str) -> None:
    ledger = Ledger.begun()
    lab = ledger.auditor()
    eve = Maker(identifier("researcher", 7), key, lab, algorithm)
    ledger.register(eve)
    ledger.audit(eve, ledger.mandate(lab))
    assert ledger.verified().counts["charge"] == 1


def test_a_researcher_changes_keys_and_signs_with_the_new_one() -> None:
    ledger, ada, mandate = honest()
    ledger.charge(ledger.renew(ada, ed25519("ada, later")), mandate)
    assert ledger.verified().counts["charge"] == 4
    ledger.charge(ada, mandate)
    with refuses(InvalidLedgerError, "wrong-signature") as found:
        ledger.verified()
    assert found.value.number == len(ledger.lines) - 1


def test_an_approved_application_makes_researchers_and_a_mandate() -> None:
    ledger = Ledger.begun()
    lab, granted = ledger.new("auditor"), ledger.new("mandate")
    key = ed25519("applicant")
    ada = Maker(ledger.new("researcher"), key, lab)
    applicant = Maker(f"applicant:{key.thumbprint()}", key)
    individual = {"name": {"commitment": digest(b"Ada")}, "jwk": public(key)}
    listed = [{"researcher_id": ada.id, "key_thumbprint": key.thumbprint()}]
    known = {"application_id": "application_1", "version": 1}
    asked = {"individuals": [individual]}
    ledger.stated(applicant, "application", asked, {**known, "individuals": listed})
    body = {**known, "decision": "approve", "reasons": None, "mandate": mandate_body()}
    body["application_digest"] = digest(canonical(asked))
    made = {"state": "approved", "auditor_id": lab, "mandate_id": granted}
    ledger.stated(REGULATOR, "decision", body, {"application_id": "application_1", **made}, lab)
    ledger.audit(ada, granted)
    assert ledger.verified().counts["decision"] == 1


def test_what_the_platforms_own_people_state_is_checked_too() -> None:
    ledger, _, _ = honest()
    ledger.stated(OPERATOR, "amendment", {"application_id": "a"}, {"application_id": "a"})
    number = ledger.stated(REGULATOR, "amendment", {"application_id": "b"}, {})
    with refuses(InvalidLedgerError, "not-theirs-to-sign") as found:
        ledger.verified()
    assert found.value.number == number


def test_an_auditor_verifies_its_own_entries() -> None:
    ledger, ada, mandate = honest()
    other = ledger.auditor()
    ledger.audit(ledger.researcher(other, "eve"), ledger.mandate(other))
    ledger.audit(ada, mandate)
    assert ada.auditor is not None
    first, lines = ledger.partial(ada.auditor)
    found = verify(first, lines, trust())
    assert (found.size, found.auditor) == (len(ledger.lines), ada.auditor)
    assert found.counts["charge"] == 4


@pytest.mark.parametrize(
    ("line", "case"),
    [
        (b"", "not-an-entry"),
        (b"not json", "not-an-entry"),
        (b"[]", "not-an-entry"),
        (b'{"number":0}', "not-an-entry"),
        (b"[" * 100_000, "not-an-entry"),
        (b"\xff", "not-an-entry"),
        (b'{"a":NaN}', "not-an-entry"),
    ],
)
def test_what_is_no_entry_is_refused_in_words(line: bytes, case: str) -> None:
    with refuses(InvalidLedgerError, case) as found:
        verify(*relied([line]), trust())
    assert found.value.number == 0


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("1.0", "float"),
        ("1e3", "float"),
        ("9007199254740992", "int"),
        ("18446744073709551616", "int"),
        ("9" * 5_000, "out of range"),
        ('"\\ud800"', "surrogate"),
        ("NaN", "malformed"),
        ("Infinity", "malformed"),
        ("[" * 20 + "]" * 20, "array"),
        ("[" * 5_000 + "]" * 5_000, "array"),
    ],
)
def test_some_values_are_in_no_entry(value: str, named: str) -> None:
    """`named` is by the JSON decoder, which is not ours."""
    with refuses(InvalidLedgerError, "not-an-entry", named) as found:
        verify(*relied([_line(value)]), trust())
    assert found.value.number == 0


@pytest.mark.parametrize(
    "value",
    [
        "-0",
        '"\\u0041"',
        '"\\u00e9"',
        '{"a":1,"a":1}',
        '{"b":1,"a":1}',
        '{"a": 1}',
        '{"\ue000":1,"\U00010000":1}',
    ],
)
def test_there_is_one_way_to_write_an_entry(value: str) -> None:
    with refuses(InvalidLedgerError, "not-canonical") as found:
        verify(*relied([_line(value)]), trust())
    assert found.value.number == 0


@pytest.mark.parametrize("value", ['"é"', '{"\U00010000":1,"\ue000":1}', '"\\u001f\\n"', "-1"])
def test_that_way_is_the_one_of_rfc_8785(value: str) -> None:
    assert verify(*relied([_line(value)]), trust()).size == 1


@pytest.mark.parametrize(
    "at",
    [
        "2026-01-01T00:00:00.5Z",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.123456",
        "2026-01-01T00:00:00.123456+00:00",
        "2026-01-01T02:00:00.123456+02:00",
        "2026-01-01T00:00:00.1234567Z",
        "2026-02-30T00:00:00.123456Z",
        "2026-01-01 00:00:00.123456Z",
        "0000-01-01T00:00:00.123456Z",
        "",
    ],
)
def test_there_is_one_way_to_write_its_time(at: str) -> None:
    line = _line("1").replace(b"2026-01-01T00:00:00.123456Z", at.encode())
    with pytest.raises(InvalidLedgerError) as found:
        verify(*relied([line]), trust())
    assert found.value.number == 0


def test_whole_seconds_are_written_out() -> None:
    line = _line("1").replace(b".123456Z", b".000000Z")
    assert verify(*relied([line]), trust()).size == 1


@pytest.mark.parametrize(
    ("first", "case"),
    [
        (b"{}", "not-a-header"),
        (b"[" * 100_000, "not-a-header"),
        (header(0, [], more=1), "not-a-header"),
        (header(0, []), "no-checkpoint"),
        (header(0, ["nonsense"]), "unreadable-checkpoint"),
        (header(0, []).replace(b"ledger/v1", b"ledger/v9", 1), "format-of-the-export"),
        (header(0, []).replace(ORIGIN.encode(), b"elsewhere"), "another-ledger"),
    ],
)
def test_what_is_no_export_is_refused_in_words(first: bytes, case: str) -> None:
    with refuses(InvalidLedgerError, case) as found:
        verify(first, [], trust())
    assert found.value.number is None


def test_the_keys_file_says_the_same_again() -> None:
    kept = trust()
    assert Trust.parse(str(kept)) == kept
    assert json.loads(str(kept))["format"] == "platform-auditor/keys/v1"


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"format": "platform-auditor/keys/v2"},
        {"origin": "elsewhere"},
        {"ledger": []},
        {"ledger": ["nonsense"]},
        {"ledger": [str(VerifierKey.of(ORIGIN, ed25519("w"), SignatureType.COSIGNATURE_V1))]},
        {"regulators": [dict(ed25519("regulator").as_dict(private=True))]},
        {"receipts": [dict(ed25519("receipt").as_dict(private=True))]},
        {"regulators": [{"kty": "oct", "k": "c2VjcmV0"}]},
        {"regulators": [{"kty": "OKP", "crv": "X25519", "x": "AA"}]},
        {"regulators": [{"kty": "OKP", "crv": "Ed25519"}]},
        {"regulators": [{"kty": ["OKP"]}]},
        {"regulators": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]},
        {"witnesses": [str(VerifierKey.of(ORIGIN, ed25519("w")))]},
    ],
)
def test_a_keys_file_that_is_not_one_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(EvidenceError):
        Trust.parse(json.dumps(json.loads(str(trust())) | change))


def _line(value: str) -> bytes:
    before = '{"at":"2026-01-01T00:00:00.123456Z","auditor":null,"facts":{"x":'
    return (before + value + '},"kind":"model","number":0}').encode()
