"""An auditor's own export: some of the entries, and proofs in place of the others.

It follows the ledger's key as a whole export does, and continues every head that anybody saw.
"""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from privacy.errors import InvalidLedgerError
from privacy.ledger.notes import Checkpoint, Note, sign_checkpoint
from privacy.ledger.verify import Verified, verify
from tests.ledgers import ORIGIN, Ledger, Maker, continued, ed25519, head, trust, witnessed
from tests.refusals import refuses


@dataclass
class Scene:
    """A ledger of two auditors, whose key is changed now and then."""

    ledger: Ledger
    lab: str
    ada: Maker
    mandate: str

    @classmethod
    def set(cls) -> "Scene":
        ledger = Ledger.begun()
        lab, other = ledger.auditor(), ledger.auditor()
        ada, eve = ledger.researcher(lab), ledger.researcher(other, "eve")
        mandate = ledger.mandate(lab)
        ledger.audit(ada, mandate)
        ledger.audit(eve, ledger.mandate(other))
        return cls(ledger, lab, ada, mandate)

    def work(self) -> None:
        self.ledger.audit(self.ada, self.mandate)

    def verified(self, seen: list[str] | None = None, **changes: Any) -> Verified:
        """The export as it is, but for these members of its header."""
        heads = seen or []
        sizes = [Checkpoint.parse(Note.parse(note).text).size for note in heads]
        first, lines = self.ledger.partial(self.lab, sizes)
        return verify(json.dumps(json.loads(first) | changes).encode(), lines, trust(), seen=heads)


@pytest.fixture
def scene() -> Scene:
    return Scene.set()


def test_it_follows_the_ledgers_key(scene: Scene) -> None:
    for name in ("second", "third"):
        scene.ledger.rotate(ed25519(name))
        scene.work()
    found = scene.verified()
    assert found.size == len(scene.ledger.lines)
    assert found.counts["signing-key"] == 2
    assert found.counts["charge"] == 3


def test_a_key_without_the_bridge_is_not_trusted(scene: Scene) -> None:
    scene.ledger.rotate(ed25519("second"), bridge=False)
    with refuses(InvalidLedgerError, "untrusted-checkpoint"):
        scene.verified()


def test_a_key_whose_announcement_is_not_shown_is_not_trusted(scene: Scene) -> None:
    scene.ledger.rotate(ed25519("second"))
    scene.work()
    first, lines = scene.ledger.partial(scene.lab)
    others = [line for line in lines if b"signing-key" not in line]
    with refuses(InvalidLedgerError, "untrusted-checkpoint"):
        verify(first, others, trust())


def test_a_key_is_not_trusted_for_checkpoints_before_its_announcement(scene: Scene) -> None:
    scene.ledger.notes.append(head(scene.ledger.lines[:5], ed25519("second")))
    scene.ledger.rotate(ed25519("second"))
    with refuses(InvalidLedgerError, "untrusted-checkpoint", 5):
        scene.verified()


def test_it_continues_what_was_seen_and_witnessed(scene: Scene) -> None:
    seen = scene.ledger.sign()
    scene.ledger.notes.clear()
    scene.work()
    cosigned = witnessed(scene.ledger.sign())
    scene.ledger.rotate(ed25519("second"))
    later = scene.ledger.sign()
    scene.work()
    assert scene.verified([seen, later]).size == len(scene.ledger.lines)
    first, lines = scene.ledger.partial(scene.lab)
    found = verify(first, lines, trust(), witnessed=[cosigned], seen=[later])
    assert found.size == len(scene.ledger.lines)


def test_a_seen_checkpoint_without_consistency_proof_is_refused(scene: Scene) -> None:
    seen = scene.ledger.sign()
    scene.ledger.notes.clear()
    scene.work()
    scene.verified([seen])
    scene.ledger.notes.clear()
    first, lines = scene.ledger.partial(scene.lab)
    with refuses(InvalidLedgerError, "no-consistency-proof"):
        verify(first, lines, trust(), seen=[seen])


def test_a_fork_is_found_by_a_holder_of_the_other_branch(scene: Scene) -> None:
    """The other branch differs in entries that the auditor does not see."""
    other = Ledger(list(scene.ledger.lines), [], scene.ledger.key, scene.ledger.at, 500)
    other.auditor()
    seen = other.sign()
    scene.work()
    size = len(other.lines)
    with refuses(InvalidLedgerError, "forked") as found:
        scene.verified([seen])
    assert found.value.number is None
    # A path of its own branch does not help either.
    other.audit(scene.ada, scene.mandate)
    path = continued(other.lines, size)
    with refuses(InvalidLedgerError, "forked"):
        scene.verified([seen], consistency={str(size): path})


def test_a_fork_of_the_same_size_is_found(scene: Scene) -> None:
    other = Ledger(list(scene.ledger.lines), [], scene.ledger.key, scene.ledger.at, 500)
    other.auditor()
    seen = other.sign()
    scene.ledger.write("model", {"digest": "sha256:" + "0" * 64})
    with refuses(InvalidLedgerError, "forked"):
        scene.verified([seen])


def test_a_rewritten_past_is_found(scene: Scene) -> None:
    seen = scene.ledger.sign()
    scene.ledger.notes.clear()
    number = next(n for n, line in enumerate(scene.ledger.lines) if b'"name":"Lab"' in line)
    scene.ledger.lines[number] = scene.ledger.lines[number].replace(b'"Lab"', b'"Bal"')
    scene.work()
    with refuses(InvalidLedgerError, "forked"):
        scene.verified([seen])


@pytest.mark.parametrize(
    "consistency",
    [{"many": []}, {"5": ["*"]}, {"5": [""]}, {"5": ["AAAA"]}, {"5": [1]}, [], None],
)
def test_proofs_that_are_none_are_refused_in_words(scene: Scene, consistency: object) -> None:
    scene.ledger.notes.append(head(scene.ledger.lines[:5], scene.ledger.key))
    scene.verified()
    with pytest.raises(InvalidLedgerError):
        scene.verified(consistency=consistency)


def test_every_checkpoint_continues_the_empty_one(scene: Scene) -> None:
    scene.ledger.notes.append(head([], scene.ledger.key))
    scene.verified()
    checkpoint = Checkpoint(ORIGIN, 0, bytes(32))
    scene.ledger.notes.append(sign_checkpoint(checkpoint, [(ORIGIN, scene.ledger.key)]))
    with refuses(InvalidLedgerError, "forked", 0):
        scene.verified()
