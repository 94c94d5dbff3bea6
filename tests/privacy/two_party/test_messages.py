"""Frames: good ones byte by byte, and every bad one refused by name."""

import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from privacy.two_party import errors
from privacy.two_party.messages import MAX_MESSAGE, MessageKind, Setting, Slot, Transcript

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "two_party" / "messages.json").read_text()
)
TERMS = bytes.fromhex(VECTORS["terms"])
CODES = {
    error.code: error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, errors.TwoPartyError)
}


def slots() -> list[Slot]:
    return [Slot(MessageKind[each["kind"]], 0, len(each["body"]) // 2) for each in VECTORS["good"]]


def transcript_at(number: int) -> Transcript:
    chain = Transcript(Setting.SERVICE, TERMS)
    chain.run = bytes.fromhex(VECTORS["run"])
    for each in VECTORS["good"][:number]:
        chain.add(bytes.fromhex(each["message"]))
    return chain


def test_frames_are_those_of_the_vectors_and_of_the_docstring() -> None:
    chain = Transcript(Setting.SERVICE, TERMS)
    chain.run = bytes.fromhex(VECTORS["run"])
    tag = b"platform-auditor/two-party/v2/chain"
    before = sha256(tag + TERMS).digest()
    for number, (each, slot) in enumerate(zip(VECTORS["good"], slots(), strict=True)):
        body = bytes.fromhex(each["body"])
        run = TERMS if number < 2 else chain.run
        by_hand = b"2PARTY" + bytes([2, 1, number % 2, slot.kind]) + struct.pack(">I", number)
        by_hand += run + before + struct.pack(">I", len(body)) + body
        assert by_hand.hex() == each["message"]
        assert chain.framed(slot, body) == by_hand
        assert chain.body(by_hand, slot) == body
        chain.add(by_hand)
        before = sha256(tag + before + by_hand).digest()
    assert chain.name == VECTORS["transcript"] == f"sha256:{before.hex()}"


@pytest.mark.parametrize("case", VECTORS["bad"], ids=lambda case: case["name"])
def test_bad_messages_are_refused_by_name(case: dict[str, Any]) -> None:
    chain = transcript_at(case["at"])
    before = chain.hash
    with pytest.raises(CODES[case["code"]]) as caught:
        chain.body(bytes.fromhex(case["message"]), slots()[case["at"]])
    assert caught.value.code == case["code"]
    assert chain.hash == before


def test_what_is_far_too_long_is_refused_before_it_is_looked_at() -> None:
    with pytest.raises(errors.OversizedError, match=str(MAX_MESSAGE)):
        transcript_at(0).body(bytes(MAX_MESSAGE + 1), slots()[0])


def test_a_message_of_the_library_is_none_of_the_service() -> None:
    slot = slots()[0]
    message = Transcript(Setting.LIBRARY, TERMS).framed(slot, bytes(slot.length))
    with pytest.raises(errors.MalformedError):
        transcript_at(0).body(message, slot)


@pytest.mark.parametrize("position", range(82))
def test_no_byte_of_a_header_can_be_changed(position: int) -> None:
    """Domain separation: whatever byte differs, the message is refused."""
    slot, message = slots()[2], bytearray.fromhex(VECTORS["good"][2]["message"])
    message[position] ^= 1
    with pytest.raises(errors.MessageError):
        transcript_at(2).body(bytes(message), slot)
