"""What the site has beside the files of `docs/`: the README in front, and the API as a page.

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

from docs.site.reference import reference

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    decisions = sorted((ROOT / "docs/adr").glob("*.md"))
    config.nav.append({"Decisions": [f"adr/{each.name}" for each in decisions]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    readme = (ROOT / "README.md").read_text()
    files.append(File.generated(config, "index.md", content=readme))
    files.append(
        File.generated(
            config, "reference/http-api.md", content=reference(ROOT / "openapi/openapi.json")
        )
    )
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    from_readme = page.file.src_uri == "index.md"
    folder = ROOT if from_readme else (ROOT / "docs" / page.file.src_uri).parent
    return _LINK.sub(lambda found: link(*found.groups(), folder, from_readme), markdown)


def link(words: str, target: str, folder: Path, from_readme: bool) -> str:
    """The link as the site has it."""
    path, _, anchor = target.partition("#")
    if not path or "://" in target or target.startswith("mailto:"):
        return f"[{words}]({target})"
    file = (folder / path).resolve()
    if not file.exists():
        raise PluginError(f"{folder.name}: there is no {target}")
    inside = file.is_relative_to(ROOT / "docs")
    if not inside or file.is_dir():
        name = f"`{file.relative_to(ROOT)}`"
        return name if words.strip("`") == name.strip("`") else f"{words} ({name})"
    if from_readme:
        target = str(file.relative_to(ROOT / "docs")) + (f"#{anchor}" if anchor else "")
    return f"[{words}]({target})"
