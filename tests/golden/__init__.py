"""Golden files: the help pages, receipts and results that the code printed when last reviewed.

`releases/` holds inputs: one release of every kind from a simulated platform, without its receipt.
Noise would drown so small an audience: `reo`, `outcome-test` and `bias-size` have larger sums, put
in by hand, and `most-skewed` names the contents in `contents/`. Everything else is made from the
code by `python -m tests.golden --write`.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
MADE = ("help", "receipts", "results")


def committed_files() -> dict[str, str]:
    """Return the text of every committed golden file, by its path in the folder."""
    paths = [path for name in MADE for path in sorted((FOLDER / name).glob("*"))]
    return {str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8") for path in paths}
