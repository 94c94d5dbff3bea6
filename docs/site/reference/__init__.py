"""Reference pages, generated from the code, so that they cannot disagree with it."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from docs.site.reference import commands, http_api, kinds, metrics, problems, settings

ROOT = Path(__file__).parents[3]


def reference_pages() -> Mapping[str, str]:
    """Return the text of each generated page by its place in the site."""
    makers = {
        "http-api": partial(http_api.page, ROOT / "openapi/openapi.json"),
        "commands": commands.page,
        "settings": settings.page,
        "kinds": kinds.page,
        "problems": problems.page,
        "metrics": metrics.page,
    }
    return {f"reference/{name}.md": make() for name, make in makers.items()}
