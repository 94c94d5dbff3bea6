"""Two-party runs in the ledger: answered once, delivered as answered, opened where required."""

from fractions import Fraction

import pytest

from privacy.errors import EvidenceError
from privacy.ledger.balances import MandateBalance
from privacy.ledger.entry_schemas import (
    AnswerFacts,
    Both,
    ChargeFacts,
    DrawFacts,
    MandateBody,
    OpeningBody,
    ReleaseFacts,
)
from privacy.ledger.two_party_runs import ChargedRuns, is_run_opened
from tests.refusals import refuses

AUDIT, TRANSCRIPT = "audit_1", "sha256:11"
ROOT = bytes(32)
# The entry of the answer, and the size of the head that ends with it.
NUMBER, SIZE = 6, 7


def mandate(opened_share: str) -> MandateBalance:
    body = MandateBody(
        kinds=["two-party"],
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2027-01-01T00:00:00Z",
        epsilon_limit="10",
        opened_share=opened_share,
    )
    return MandateBalance.granted("mandate_1", "auditor_1", body)


def charged(
    opened_share: str = "1", assumes: tuple[str, ...] = ("bounded-weights",)
) -> ChargedRuns:
    both = Both("1", "2")
    facts = ChargeFacts(
        "charge_1", AUDIT, "mandate_1", None, both, both, "epsilon", "2", assumes=list(assumes)
    )
    runs = ChargedRuns(lambda size, root: size == SIZE and root != ROOT)
    runs.charge(facts, mandate(opened_share))
    return runs


def answered(opened_share: str = "1") -> ChargedRuns:
    runs = charged(opened_share)
    runs.answer(AnswerFacts(AUDIT, TRANSCRIPT), NUMBER)
    return runs


def released(
    root: bytes | None = None, transcript: str = TRANSCRIPT, size: int = SIZE
) -> ReleaseFacts:
    return ReleaseFacts(AUDIT, transcript, None if root is None else DrawFacts(size, root.hex()))


def test_nothing_is_answered_twice_or_without_a_charge() -> None:
    runs = answered()
    with refuses(EvidenceError, "answered-before"):
        runs.answer(AnswerFacts(AUDIT, "sha256:22"), NUMBER + 1)
    with refuses(EvidenceError, "no-two-party-charge"):
        runs.answer(AnswerFacts("audit_2", TRANSCRIPT), NUMBER + 1)


def test_what_was_answered_is_not_refunded() -> None:
    charged().refuse_answered(AUDIT)
    with refuses(EvidenceError, "answered-before"):
        answered().refuse_answered(AUDIT)


def test_what_is_delivered_is_what_was_answered() -> None:
    with refuses(EvidenceError, "another-delivery-than-answered"):
        charged("0").release(released())
    with refuses(EvidenceError, "another-delivery-than-answered"):
        answered("0").release(released(transcript="sha256:22"))
    answered("0").release(released())


def test_what_must_be_opened_is_opened_first_and_without_findings() -> None:
    runs = answered("1")
    with refuses(EvidenceError, "not-opened"):
        runs.release(released())
    with refuses(EvidenceError, "another-opening-than-answered"):
        runs.open(OpeningBody(AUDIT, "sha256:22", []))
    runs.open(OpeningBody(AUDIT, TRANSCRIPT, []))
    runs.release(released())


@pytest.mark.parametrize("share", ["0", "1"])
def test_what_something_was_found_in_is_never_delivered(share: str) -> None:
    runs = answered(share)
    runs.open(OpeningBody(AUDIT, TRANSCRIPT, ["weight-out-of-bounds"]))
    runs.open(OpeningBody(AUDIT, TRANSCRIPT, []))
    with refuses(EvidenceError, "delivered-despite-findings"):
        runs.release(released())


def test_a_share_is_drawn_by_the_root_of_a_head() -> None:
    share = Fraction(1, 2)
    roots = [number.to_bytes(32, "big") for number in range(1, 64)]
    hit = next(root for root in roots if is_run_opened(share, root, AUDIT))
    spared = next(root for root in roots if not is_run_opened(share, root, AUDIT))
    answered("0.5").release(released(spared))
    with refuses(EvidenceError, "not-opened"):
        answered("0.5").release(released(hit))
    with refuses(EvidenceError, "no-drawing-head"):
        answered("0.5").release(released())
    opened = answered("0.5")
    opened.open(OpeningBody(AUDIT, TRANSCRIPT, []))
    opened.release(released(hit))


@pytest.mark.parametrize("size", [SIZE - 1, SIZE + 1])
def test_only_the_checkpoint_that_ends_with_the_answer_draws(size: int) -> None:
    spared = next(n.to_bytes(32, "big") for n in range(1, 64) if not _hit(n.to_bytes(32, "big")))
    with refuses(EvidenceError, "another-drawing-head", 7):
        answered("0.5").release(released(spared, size=size))
    with refuses(EvidenceError, "unsigned-drawing-head"):
        answered("0.5").release(released(ROOT))
    with refuses(EvidenceError, "not-hexadecimal"):
        answered("0.5").release(ReleaseFacts(AUDIT, TRANSCRIPT, DrawFacts(SIZE, "xyz")))


def _hit(root: bytes) -> bool:
    return is_run_opened(Fraction(1, 2), root, AUDIT)


def test_about_the_share_is_drawn() -> None:
    share = Fraction(3, 10)
    hits = sum(is_run_opened(share, ROOT, f"audit_{number}") for number in range(10_000))
    # Fixed names; as a draw it would be beyond 250 of 3,000 (5.4 SD) once in ten million.
    assert abs(hits - 3_000) < 250
    assert not is_run_opened(Fraction(0), ROOT, AUDIT)
    assert is_run_opened(Fraction(1), ROOT, AUDIT)


def test_other_kinds_are_let_be() -> None:
    ChargedRuns(lambda *_: True).release(ReleaseFacts("audit_9"))
