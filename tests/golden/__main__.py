"""`python -m tests.golden`: compare the golden files with today's code; `--write` rewrites them."""

import difflib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden import FOLDER, committed_files
from tests.golden.help_pages import help_pages
from tests.golden.results import receipts, results


def main(write: bool) -> int:
    with TemporaryDirectory() as folder:
        made = {**help_pages(), **receipts(), **results(Path(folder))}
    committed = committed_files()
    for name in sorted(made.keys() | committed.keys()):
        before, after = committed.get(name, ""), made.get(name, "")
        lines = (before.splitlines(), after.splitlines())
        print(*difflib.unified_diff(*lines, name, name, lineterm=""), sep="\n", end="")
        if write:
            path = FOLDER / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(after, encoding="utf-8") if name in made else path.unlink()
    return 0 if write or made == committed else 1


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
