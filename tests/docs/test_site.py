"""The documentation as a site: whole, with every link leading somewhere, and without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from mkdocs.exceptions import PluginError

from docs.site.pages import ROOT, link
from docs.site.redirects import MOVED
from docs.site.reference.http_api import page as http_api_page

BUILD = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it; `strict`, so that a broken link ends it with an error."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([*BUILD, str(folder)], cwd=ROOT, check=True, capture_output=True)
    return folder


def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    written = {page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    missing = [page for page in written if not (site / page.with_suffix(".html")).exists()]
    assert written
    assert not missing


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    """Links may lead out; scripts, styles, fonts and pictures come from the folder itself."""
    pages = list(site.rglob("*.html"))
    fetched = re.compile(r"<(?:script|img|link)[^>]*\s(?:src|href)=\"?(https?:)?//[^>]*>")
    assert pages
    assert not [found[0] for page in pages if (found := fetched.search(page.read_text()))]


def test_the_reference_has_every_operation_and_model() -> None:
    page = http_api_page(ROOT / "openapi/openapi.json")
    assert "### `POST /v1/audits`" in page
    assert "### Mandate\n" in page
    linked = set(re.findall(r"\]\(#([^)]+)\)", page))
    headings = {words.lower() for words in re.findall(r"^### ([\w-]+)$", page, re.MULTILINE)}
    assert linked <= headings


def test_code_is_named_and_what_is_not_there_is_an_error() -> None:
    folder = ROOT / "docs"
    assert link("the door", "../privacy/waist", folder, False) == "the door (`privacy/waist`)"
    inside = link("planning", "docs/explanation/planning.md#a", ROOT, True)
    assert inside == "[planning](explanation/planning.md#a)"
    with pytest.raises(PluginError, match=r"gone\.md"):
        link("gone", "gone.md", folder, False)


def test_old_addresses_lead_to_the_pages_that_moved(site: Path) -> None:
    for old, new in MOVED.items():
        page = site / Path(old).with_suffix(".html")
        target = re.findall(r'url=([^"]+)"', page.read_text())
        assert [(page.parent / each).resolve() for each in target] == [
            (site / new).with_suffix(".html").resolve()
        ]
        assert (site / new).with_suffix(".html").exists()
