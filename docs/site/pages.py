"""Pages of the site in addition to the files of `docs/`: the README in front, and the reference.

Links to files outside of `docs/` become their names, once it is clear that they exist: the site
has pages, and the repository has code.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site.pictures import COMMITTED, pictures
from docs.site.reference import REFERENCE, reference_pages
from docs.site.reference.tables import table

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    pages = [f"adr/{each.name}" for each in decisions()]
    config.nav.append({"Decisions": ["adr/index.md", *pages, "adr/template.md"]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    readme = (ROOT / "README.md").read_text()
    files.append(File.generated(config, "index.md", content=readme))
    files.append(File.generated(config, "adr/index.md", content=index_of_decisions()))
    for place, text in reference_pages().items():
        files.append(File.generated(config, place, content=text))
    for place, svg in pictures().items():
        if place != COMMITTED:
            files.append(File.generated(config, place, content=svg))
    return files


def _is_generated(file: Path) -> bool:
    return str(file.relative_to(ROOT / "docs")) in {*REFERENCE, "adr/index.md"}


def decisions() -> list[Path]:
    """Return the files of all decisions, in order."""
    return sorted((ROOT / "docs/adr").glob("[0-9]*.md"))


def index_of_decisions() -> str:
    """Return the page that lists decisions, with the status of each."""
    lines = ["# Decisions", "", "One page for each decision, with the options that were refused."]
    rows = []
    for file in decisions():
        text = file.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        [status] = re.findall(r"^\*\*Status\.\*\* (\w+)", text, re.MULTILINE)
        rows.append((f"[{title}]({file.name})", status))
    return "\n".join((*lines, *table(("decision", "status"), rows)))


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    from_readme = page.file.src_uri == "index.md"
    if from_readme:
        markdown = markdown.replace("](docs/images/", "](images/")
    folder = ROOT if from_readme else (ROOT / "docs" / page.file.src_uri).parent
    return _LINK.sub(lambda found: link(*found.groups(), folder, from_readme), markdown)


def link(words: str, target: str, folder: Path, from_readme: bool) -> str:
    """Return the link as the site has it."""
    path, _, anchor = target.partition("#")
    if not path or "://" in target or target.startswith("mailto:"):
        return f"[{words}]({target})"
    file = (folder / path).resolve()
    if file.is_relative_to(ROOT / "docs") and _is_generated(file):
        return f"[{words}]({target})"
    if not file.exists():
        raise PluginError(f"{folder.name}: there is no {target}")
    inside = file.is_relative_to(ROOT / "docs")
    if not inside or file.is_dir():
        name = f"`{file.relative_to(ROOT)}`"
        return name if words.strip("`") == name.strip("`") else f"{words} ({name})"
    if from_readme:
        target = str(file.relative_to(ROOT / "docs")) + (f"#{anchor}" if anchor else "")
    return f"[{words}]({target})"
