"""The most skewed of several contents: only its identity, not its skew."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.kinds.protocol import Result
from openapi.kinds import most_skewed as contract
from openapi.resources import AuditKind, Content, MostSkewedRelease, MostSkewedRequest


@dataclass(frozen=True, repr=False)
class MostSkewedResult(Result[MostSkewedRelease]):
    """Content whose scores differ (about) most between the two groups."""

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: MostSkewedRequest, made: MostSkewedRelease) -> Iterator[str]:
        digests = made.content_digests
        one_of_them = 0 <= made.chosen < len(asked.contents) == len(digests)
        if not one_of_them or made.chosen_digest != digests[made.chosen]:
            yield "choice"

    def numbers(self) -> dict[str, Any]:
        known = self.position < len(self.contents)
        chosen = {"content": self.chosen.id, "title": self.chosen.title} if known else {}
        return {"position": self.position, **chosen, "error_95": self.error_95}

    def table(self) -> pa.Table:
        """Return each compared content and whether it was chosen, one row each."""
        digests = self.release.content_digests
        known = len(self.contents) == len(digests)
        rows = [
            {
                "title": self.contents[number].title if known else None,
                "digest": digest,
                "chosen": number == self.position,
            }
            for number, digest in enumerate(digests)
        ]
        types = {"title": pa.string(), "digest": pa.string(), "chosen": pa.bool_()}
        return pa.Table.from_pylist(rows, pa.schema(types))

    @property
    def position(self) -> int:
        """The position, from 0, of the chosen content among the requested ones."""
        return self.release.chosen

    @property
    def chosen(self) -> Content:
        """The chosen content."""
        if not 0 <= self.position < len(self.contents):
            raise InputError("This machine does not know the contents. Use `position`.")
        return self.contents[self.position]

    @property
    def error_95(self) -> int:
        """Distance below the largest skew that the chosen content exceeds with a probability of at
        most 5 %.
        """
        return self.part("skew").error_95
