"""Signed notes: the specifications' own examples, and vectors that an independent script made."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import OKPKey

from privacy.errors import NoteError
from privacy.ledger.notes import (
    NOTE_BYTES,
    Checkpoint,
    Note,
    SignatureType,
    VerifierKey,
    cosign,
    merge,
    open_checkpoint,
    sign_checkpoint,
)
from tests.refusals import refuses

FOLDER = Path(__file__).parents[2] / "vectors" / "ledger"
PUBLISHED: dict[str, Any] = json.loads((FOLDER / "published.json").read_text())
VECTORS: dict[str, Any] = json.loads((FOLDER / "notes.json").read_text())
KEYS = {name: VerifierKey.parse(text) for name, text in VECTORS["keys"].items()}

ORIGIN = "platform.example/v1/ledger"
LEDGER, NEXT, WITNESS = (OKPKey.generate_key("Ed25519") for _ in range(3))
LEDGER_KEY, NEXT_KEY = VerifierKey.of(ORIGIN, LEDGER), VerifierKey.of(ORIGIN, NEXT)
WITNESS_KEY = VerifierKey.of("researcher-7", WITNESS, SignatureType.COSIGNATURE_V1)
HEAD = Checkpoint(ORIGIN, 17, bytes(range(32)))
SIGNED = sign_checkpoint(HEAD, [(ORIGIN, LEDGER)])


def named(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


@pytest.mark.parametrize("source", ["signed-note", "go.sum"])
def test_published_notes_verify_with_their_published_keys(source: str) -> None:
    key, text = VerifierKey.parse(PUBLISHED[source]["key"]), PUBLISHED[source]["note"]
    assert str(key) == PUBLISHED[source]["key"]
    assert str(Note.parse(text)) == text
    assert Note.parse(text).verify([key]) == {key: None}


def test_a_published_witness_key_is_read() -> None:
    key = VerifierKey.parse(PUBLISHED["remora"]["key"])
    assert (str(key), key.type) == (PUBLISHED["remora"]["key"], SignatureType.COSIGNATURE_V1)


def test_a_published_cosigned_checkpoint_is_read() -> None:
    """Its keys are not published: the text, the names and the time are."""
    note = Note.parse(PUBLISHED["tlog-cosignature"]["note"])
    assert str(note) == PUBLISHED["tlog-cosignature"]["note"]
    assert Checkpoint.parse(note.text).size == 20852163
    (log, _), (witness, _) = note.signatures
    assert (log, witness) == ("example.com/behind-the-sofa", "witness.example.com/w1")
    stamped = list(note.signatures.values())[1]
    assert int.from_bytes(stamped[:8], "big") == PUBLISHED["tlog-cosignature"]["time"]


def test_a_key_counts_only_for_the_origin_it_is_named_after() -> None:
    """Go's ledger has a key of another name: a right signature, but not by our rule."""
    key = VerifierKey.parse(PUBLISHED["go.sum"]["key"])
    with refuses(NoteError, "untrusted"):
        open_checkpoint(PUBLISHED["go.sum"]["note"], [key])


@named(VECTORS["good"])
def test_good_notes(case: dict[str, Any]) -> None:
    opened = open_checkpoint(case["note"], list(KEYS.values()))
    assert opened.signers == {KEYS[name] for name in case["signers"]}
    assert opened.witnesses == {KEYS[name]: time for name, time in case["witnesses"].items()}
    assert case["note"].startswith(opened.checkpoint.text() + "\n")
    assert Checkpoint.parse(opened.checkpoint.text()) == opened.checkpoint


REASONS = {"untrusted": "untrusted", "wrong": "wrong-signature"}


@named(VECTORS["bad"])
def test_bad_notes(case: dict[str, Any]) -> None:
    with pytest.raises(NoteError) as caught:
        open_checkpoint(case["note"], list(KEYS.values()))
    if case["because"] == "malformed":
        assert caught.value.case not in REASONS.values()
    elif case["because"] != "any":
        assert caught.value.case == REASONS[case["because"]]


@named(VECTORS["bad_keys"])
def test_bad_keys(case: dict[str, Any]) -> None:
    with pytest.raises(NoteError):
        VerifierKey.parse(case["key"])


def test_a_key_is_the_same_after_it_was_written() -> None:
    for key in (LEDGER_KEY, WITNESS_KEY):
        assert VerifierKey.parse(str(key)) == key
    both = (LEDGER_KEY, replace(LEDGER_KEY, type=SignatureType.COSIGNATURE_V1))
    assert both[0].key_id != both[1].key_id


def test_one_key_hands_over_to_the_next() -> None:
    note = sign_checkpoint(HEAD, [(ORIGIN, LEDGER), (ORIGIN, NEXT)])
    assert open_checkpoint(note, [LEDGER_KEY]).signers == {LEDGER_KEY}
    assert open_checkpoint(note, [NEXT_KEY]).signers == {NEXT_KEY}
    assert open_checkpoint(note, [NEXT_KEY, LEDGER_KEY]).signers == {LEDGER_KEY, NEXT_KEY}
    assert open_checkpoint(note, {LEDGER_KEY}).checkpoint == HEAD


def test_a_witness_adds_its_line_and_a_newer_one_takes_its_place() -> None:
    once = cosign(SIGNED, "researcher-7", WITNESS, 1_795_000_000)
    assert once.startswith(SIGNED)
    twice = cosign(once, "researcher-7", WITNESS, 1_795_000_060)
    for note, time in ((once, 1_795_000_000), (twice, 1_795_000_060)):
        opened = open_checkpoint(note, [LEDGER_KEY, WITNESS_KEY])
        assert opened.checkpoint == HEAD
        assert opened.witnesses == {WITNESS_KEY: time}


def test_a_witness_does_not_stand_for_the_ledger() -> None:
    alone = Note.parse(cosign(SIGNED, "researcher-7", WITNESS, 1))
    alone = Note(alone.text, dict([list(alone.signatures.items())[1]]))
    with refuses(NoteError, "untrusted"):
        open_checkpoint(str(alone), [LEDGER_KEY, WITNESS_KEY])
    under_its_name = cosign(str(alone), ORIGIN, WITNESS, 1)
    posing = VerifierKey.of(ORIGIN, WITNESS, SignatureType.COSIGNATURE_V1)
    with refuses(NoteError, "untrusted"):
        open_checkpoint(under_its_name, [LEDGER_KEY, posing])


def test_a_cosignature_is_no_signature_and_the_other_way_round() -> None:
    """One key pair under both types: what it signed as one does not count as the other."""
    one, other = LEDGER_KEY, replace(LEDGER_KEY, type=SignatureType.COSIGNATURE_V1)
    signature = Note.parse(SIGNED).signatures[one.name, one.key_id]
    for stamped in (signature, bytes(8) + signature):
        with pytest.raises(NoteError):
            other.verify(HEAD.text(), stamped)


def test_merging_takes_what_trusted_keys_signed_and_nothing_else() -> None:
    cosigned = cosign(SIGNED, "researcher-7", WITNESS, 5)
    with_stranger = cosign(cosigned, "stranger", OKPKey.generate_key("Ed25519"), 5)
    assert merge(SIGNED, with_stranger, [WITNESS_KEY]) == cosigned
    for nothing_new in (SIGNED, cosign(SIGNED, "researcher-8", WITNESS, 5)):
        with refuses(NoteError, "unsigned"):
            merge(SIGNED, nothing_new, [WITNESS_KEY])
    elsewhere = sign_checkpoint(replace(HEAD, size=18), [(ORIGIN, LEDGER)])
    with refuses(NoteError, "another-text"):
        merge(elsewhere, cosigned, [WITNESS_KEY])


@pytest.mark.parametrize("time", [-1, 2**63])
def test_a_time_out_of_range_is_not_signed(time: int) -> None:
    with refuses(NoteError, "time-of-a-cosignature"):
        cosign(SIGNED, "researcher-7", WITNESS, time)


def test_only_checkpoints_are_witnessed() -> None:
    with refuses(NoteError, "not-a-checkpoint"):
        cosign(PUBLISHED["signed-note"]["note"], "researcher-7", WITNESS, 1)


def test_only_ed25519_private_keys_sign() -> None:
    public = OKPKey.import_key(LEDGER.as_dict(private=False))
    assert VerifierKey.of(ORIGIN, public) == LEDGER_KEY
    for key in (public, OKPKey.generate_key("Ed448")):
        with refuses(NoteError, "not-ed25519"):
            sign_checkpoint(HEAD, [(ORIGIN, key)])


@pytest.mark.parametrize(
    "change",
    [
        {"origin": ""},
        {"origin": "a\nb"},
        {"origin": "a\x00"},
        {"size": -1},
        {"size": 2**63},
        {"root": b""},
        {"root": bytes(31)},
        {"root": bytes(33)},
    ],
    ids=str,
)
def test_a_checkpoint_that_could_not_be_read_back_is_not_made(change: dict[str, Any]) -> None:
    with pytest.raises(NoteError):
        replace(HEAD, **change)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u2003b", "a\n", "\ud800"])
def test_a_name_that_could_not_be_read_back_signs_nothing(name: str) -> None:
    with pytest.raises(NoteError):
        sign_checkpoint(HEAD, [(name, LEDGER)])


def test_a_note_has_at_least_one_signature_and_a_largest_size() -> None:
    with refuses(NoteError, "note-size"):
        sign_checkpoint(HEAD, [])
    long = "x" * (NOTE_BYTES - len(SIGNED.encode())) + SIGNED
    assert str(Note.parse(long)) == long
    for text in ("x" + long, "x\n\n" * 10**6 + SIGNED, SIGNED * 10**4):
        with pytest.raises(NoteError):
            Note.parse(text)


@given(st.integers(0, len(SIGNED) - 1), st.sampled_from("\n\r\t\0 +—0aA=é"))
def test_no_character_can_be_changed(position: int, character: str) -> None:
    changed = SIGNED[:position] + character + SIGNED[position + 1 :]
    if changed != SIGNED:
        with pytest.raises(NoteError):
            open_checkpoint(changed, [LEDGER_KEY])


@given(st.integers(0, len(SIGNED) - 1))
def test_no_part_can_be_left_out(position: int) -> None:
    for text in (
        SIGNED[:position],
        SIGNED[position + 1 :],
        SIGNED[:position] + SIGNED[position + 1 :],
    ):
        with pytest.raises(NoteError):
            open_checkpoint(text, [LEDGER_KEY])


@given(st.text(st.sampled_from("a—\n 0+=\r\ud800\u2028A"), max_size=60) | st.text())
def test_no_text_is_a_crash(text: str) -> None:
    for read in (Note.parse, Checkpoint.parse, VerifierKey.parse):
        try:
            again = read(text)
        except NoteError:
            continue
        assert text == (again.text() if isinstance(again, Checkpoint) else str(again))
