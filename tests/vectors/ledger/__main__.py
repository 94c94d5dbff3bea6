"""`python -m tests.vectors.ledger`: make the vectors anew. They come out the same every time."""

import json
from collections.abc import Sequence

from tests.vectors.ledger import FOLDER, KEYS, TWINS, Twin, written
from tests.vectors.ledger.honest import Honest, trusted
from tests.vectors.ledger.lies import LIES, Lie, file_of, own


def made() -> dict[str, str]:
    """Every file, by its name."""
    honest = Honest.made()
    receipt = json.dumps(honest.receipt, ensure_ascii=False, indent=1).split("\n")
    good = {
        "export.jsonl": [line.decode() for line in file_of(honest)],
        "partial.jsonl": [line.decode() for line in own(honest)],
        "receipt.json": receipt,
    }
    twins = [_twin(lie, honest, name, lines) for name, lines in good.items() for lie in LIES[name]]
    files = {name: "".join(f"{line}\n" for line in lines) for name, lines in good.items()}
    return {KEYS: str(trusted()), **files, TWINS: written(twins)}


def _twin(lie: Lie, honest: Honest, of: str, good: Sequence[str]) -> Twin:
    bad = lie(honest)
    lines = [line.decode() for line in bad.lines]
    heads = {"seen": bad.seen, "witnessed": bad.witnessed}
    name = lie.__name__.replace("_", " ")
    return Twin.made(name, of, good, lines, bad.entry, bad.case, **heads)


if __name__ == "__main__":
    for name, text in made().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
