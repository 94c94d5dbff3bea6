"""Rules of the ledger: it verifies offline, and it continues every checkpoint ever seen."""

from collections.abc import Iterator
from pathlib import Path

from auditor_client import Regulator
from auditor_client.errors import AuditorError
from auditor_client.ledger import make_trust
from privacy.errors import EvidenceError
from privacy.ledger.notes import Checkpoint, Note
from privacy.ledger.trust import Trust
from privacy.ledger.verify import verify
from tests.histories.deployment import Deployment
from tests.histories.evidence import Evidence
from tests.histories.plan import Does


def violations(evidence: Evidence, deployment: Deployment) -> Iterator[str]:
    shown = {call.said["note"] for call in evidence.done(Does.HEAD)}
    notes = sorted(shown | set(evidence.signed))
    yield from _forks(notes)
    with deployment.regulator() as regulator:
        public = deployment.regulator_key.as_dict(private=False)
        trust = make_trust(regulator.ledger.keys(), {deployment.regulator_id: public})
        try:
            _verify(regulator, trust, notes, deployment.folder / "ledger.jsonl")
            head = regulator.ledger.head(trust)
            for note in shown:
                regulator.ledger._continues(head, _checkpoint(note))
        except (AuditorError, EvidenceError) as error:
            yield f"the ledger does not verify: {error}"


def _forks(notes: list[str]) -> Iterator[str]:
    """No two checkpoints of one size have different roots."""
    roots: dict[int, bytes] = {}
    for checkpoint in map(_checkpoint, notes):
        if roots.setdefault(checkpoint.size, checkpoint.root) != checkpoint.root:
            yield f"two checkpoints of {checkpoint.size} entries differ"


def _verify(regulator: Regulator, trust: Trust, notes: list[str], path: Path) -> None:
    """Export the ledger and verify it with the offline verifier, against all these notes."""
    sizes = sorted({str(_checkpoint(note).size) for note in notes})
    with path.open("wb") as file:
        for piece in regulator._transport.pieces(
            "/v1/ledger/export", format="jsonl", seen=sizes[:1]
        ):
            file.write(piece)
    with path.open("rb") as lines:
        verify(next(lines, b""), lines, trust, seen=notes)


def _checkpoint(note: str) -> Checkpoint:
    return Checkpoint.parse(Note.parse(note).text)
