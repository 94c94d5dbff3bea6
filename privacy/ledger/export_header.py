"""First line of an export: the ledger's origin, and the checkpoint up to which it goes.

An auditor's own export does not show all entries, so nobody can compute the older trees from it. It
includes proofs that the newest checkpoint is consistent with the others.
"""

from base64 import b64decode

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.export_lines import Whole

FORMAT = "platform-auditor/ledger/v1"


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """Header of an export; `auditor` and `consistency` are set if it has only that auditor's
    entries.
    """

    format: str
    origin: str
    size: Whole
    checkpoints: list[str]
    auditor: str | None = None
    # Path from an older checkpoint to the newest one, by the size of the older one.
    consistency: dict[str, list[str]] = {}

    def paths(self) -> dict[int, list[bytes]]:
        try:
            return {int(size): decode_path(path) for size, path in self.consistency.items()}
        except ValueError as error:
            raise EvidenceError(
                "a consistency proof is not keyed by the size of a checkpoint",
                case="proof-without-a-head",
            ) from error


def parse_header(line: bytes) -> Header:
    try:
        return _header.decode(line)
    except ValueError as error:
        raise EvidenceError(
            f"this is not the header of an export: {error}", case="not-a-header"
        ) from error


def decode_path(path: list[str]) -> list[bytes]:
    """Return the hashes of a proof."""
    try:
        return [b64decode(each, validate=True) for each in path]
    except ValueError as error:
        raise EvidenceError(f"its proof is not base64: {error}", case="proof-not-base64") from error


_header = msgspec.json.Decoder(Header)
