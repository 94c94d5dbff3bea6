"""The page that adds a kind of audit shows the files of the example, and all of them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/contributors/add-a-kind.md"
EXAMPLE = ROOT / "docs/examples/share-above"
_BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.DOTALL | re.MULTILINE)


def test_the_blocks_of_the_page_are_the_files_of_the_example() -> None:
    shown = dict(_BLOCK.findall(PAGE.read_text()))
    files = {
        str(path.relative_to(EXAMPLE)): path.read_text()
        for path in EXAMPLE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shown == files
