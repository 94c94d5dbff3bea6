"""Reference pages, generated from the code, so that they cannot disagree with it."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from docs.site.reference import commands, file_formats, http_api, kinds, metrics, problems, settings

ROOT = Path(__file__).parents[3]


_MAKERS = {
    "http-api": partial(http_api.page, ROOT / "openapi/openapi.json"),
    "commands": commands.page,
    "settings": settings.page,
    "kinds": kinds.page,
    "problems": problems.page,
    "metrics": metrics.page,
    "file-formats": partial(
        file_formats.page, json.loads((ROOT / "openapi/openapi.json").read_text(encoding="utf-8"))
    ),
}
# Places of the generated pages in the site.
REFERENCE = tuple(f"reference/{name}.md" for name in _MAKERS)


def reference_pages() -> Mapping[str, str]:
    """Return the text of each generated page by its place in the site."""
    return {place: make() for place, make in zip(REFERENCE, _MAKERS.values(), strict=True)}
