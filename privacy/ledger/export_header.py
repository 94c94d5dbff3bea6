"""The first line of an export: of which ledger it is, up to which signed head.

An auditor's own export does not show all entries, so that nobody can hash the older trees from it:
it brings proofs that the newest head continues the others.
"""

from base64 import b64decode

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.export_lines import Whole

FORMAT = "platform-auditor/ledger/v1"


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """`auditor` and `consistency` where the export holds that auditor's entries alone."""

    format: str
    origin: str
    size: Whole
    checkpoints: list[str]
    auditor: str | None = None
    # By the size of an older head, the path from it to the newest one.
    consistency: dict[str, list[str]] = {}

    def paths(self) -> dict[int, list[bytes]]:
        try:
            return {int(size): decode_path(path) for size, path in self.consistency.items()}
        except ValueError as error:
            raise EvidenceError(
                "a consistency proof is not by the size of a head", case="proof-without-a-head"
            ) from error


def parse_header(line: bytes) -> Header:
    try:
        return _header.decode(line)
    except ValueError as error:
        raise EvidenceError(
            f"this is not the header of an export: {error}", case="not-a-header"
        ) from error


def decode_path(path: list[str]) -> list[bytes]:
    """Decode the hashes of a proof."""
    try:
        return [b64decode(each, validate=True) for each in path]
    except ValueError as error:
        raise EvidenceError(f"its proof is not base64: {error}", case="proof-not-base64") from error


_header = msgspec.json.Decoder(Header)
