"""Limit on the rows of one part, enforced while the part arrives.

A CSV file of 60 MB can hold 30 million rows, which take 40 seconds to parse. `RowLimit.take` counts
the rows of text in each chunk before anything is parsed. Its count may be too high (blank lines,
braces inside names), never too low.
"""

from dataclasses import dataclass, field

from api.audiences.media_types import CSV, JSON_LINES
from api.kernel.errors import ApiError, AudienceTooLargeError, TooLargeError
from api.kernel.settings import Settings


@dataclass
class RowLimit:
    """Counter of the rows of one part, which refuses the part above `most` rows."""

    most: int
    refusal: ApiError
    _lines: int = field(default=0, init=False)
    _ends_in_cr: bool = field(default=False, init=False)

    def take(self, chunk: bytes, media_type: str) -> None:
        """Count the rows in the next chunk of text; raise above the limit."""
        if media_type == CSV:
            self._lines += self._line_ends(chunk)
            self.check(self._lines - 1)
        elif media_type == JSON_LINES:
            self._lines += chunk.count(b"{")
            self.check(self._lines)

    def check(self, rows: int) -> None:
        """Raise if there are more rows than allowed."""
        if rows > self.most:
            raise self.refusal

    def _line_ends(self, chunk: bytes) -> int:
        """Count LF, CR and CR LF as one line end each, also across two chunks."""
        pairs = chunk.count(b"\r\n") + (self._ends_in_cr and chunk.startswith(b"\n"))
        self._ends_in_cr = chunk.endswith(b"\r") if chunk else self._ends_in_cr
        return chunk.count(b"\n") + chunk.count(b"\r") - pairs


def row_limit(others: int, settings: Settings) -> RowLimit:
    """Return the limit of a part whose audience has `others` members in its other parts."""
    left = settings.max_members - others
    if left < settings.max_part_rows:
        return RowLimit(
            left,
            AudienceTooLargeError(
                f"With this part the audience would have at least {settings.max_members + 1} "
                f"members. Its limit is {settings.max_members}. Nothing of the part was stored."
            ),
        )
    return RowLimit(
        settings.max_part_rows,
        TooLargeError(
            f"The part has more than {settings.max_part_rows} rows. Nothing of it was stored. "
            "Split the upload into more parts.",
            limit=settings.max_part_rows,
        ),
    )
