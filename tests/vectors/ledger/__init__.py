"""A whole ledger and a receipt, good and bad, for authors of other verifiers.

README.md explains them; `python -m tests.vectors.ledger` makes them again.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Self

FOLDER = Path(__file__).parent
# The same as versions before format 3 wrote them; nobody makes these anew.
OLDER = FOLDER / "format_2"
GOOD = ("export.jsonl", "partial.jsonl", "receipt.json")
KEYS = "keys.json"
TWINS = "twins.json"

# At this line, remove this number of lines and insert these.
Step = tuple[int, int, list[str]]


@dataclass(frozen=True)
class Twin:
    """A good file with a change for which it must be refused.

    `entry` is the first bad entry; None where a head is bad, or of a receipt. `seen` and
    `witnessed` are heads that the verifier holds.
    """

    name: str
    of: str
    steps: list[Step]
    entry: int | None
    case: str
    seen: list[str]
    witnessed: list[str]

    @classmethod
    def made(
        cls,
        name: str,
        of: str,
        good: Sequence[str],
        bad: Sequence[str],
        entry: int | None,
        case: str,
        *,
        seen: Sequence[str] = (),
        witnessed: Sequence[str] = (),
    ) -> Self:
        return cls(name, of, steps(good, bad), entry, case, list(seen), list(witnessed))

    def lines(self, folder: Path = FOLDER) -> list[str]:
        """The bad file."""
        made = lines_of(self.of, folder)
        for at, removed, added in reversed(self.steps):
            made[at : at + removed] = added
        return made


def steps(good: Sequence[str], bad: Sequence[str]) -> list[Step]:
    """Return the edits that turn one into the other, in the order of the good lines."""
    changes = SequenceMatcher(None, good, bad, autojunk=False).get_opcodes()
    return [
        (start, stop - start, list(bad[begin:end]))
        for tag, start, stop, begin, end in changes
        if tag != "equal"
    ]


def lines_of(name: str, folder: Path = FOLDER) -> list[str]:
    return (folder / name).read_text(encoding="utf-8").splitlines()


def twins(folder: Path = FOLDER) -> list[Twin]:
    return [Twin(**fields) for fields in json.loads((folder / TWINS).read_text(encoding="utf-8"))]


def written(made: Sequence[Twin]) -> str:
    return json.dumps([asdict(twin) for twin in made], ensure_ascii=False, indent=1) + "\n"
