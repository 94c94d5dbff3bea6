"""Redirects from the addresses that pages had before they moved.

`make docs` writes a small page at each old address, which leads to the new one.
"""

import posixpath
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

MOVED = {
    "api.md": "reference/http-api.md",
    "researchers.md": "how-to/researchers/run-an-audit.md",
    "interrupted-audits.md": "how-to/researchers/resume-a-run.md",
    "studies.md": "how-to/researchers/run-a-study-file.md",
    "canary.md": "how-to/researchers/check-for-canaries.md",
    "planning.md": "explanation/planning.md",
    "intervals.md": "explanation/intervals.md",
    "metrics.md": "explanation/metrics.md",
    "outcome-test.md": "explanation/outcome-test.md",
    "reo.md": "explanation/reo.md",
    "envy.md": "explanation/envy.md",
    "two-party.md": "explanation/two-party.md",
    "two-party-metrics.md": "explanation/two-party-metrics.md",
    "demographics.md": "explanation/demographics.md",
    "platforms.md": "how-to/platforms/host-the-endpoint.md",
    "adapters.md": "how-to/platforms/write-an-adapter.md",
    "operations.md": "how-to/platforms/run-the-service.md",
    "logs.md": "how-to/platforms/connect-logs.md",
    "scale.md": "explanation/performance.md",
    "benchmarks.md": "reference/benchmarks.md",
    "regulators.md": "how-to/regulators/oversee-audits.md",
    "vetting.md": "how-to/regulators/vet-an-application.md",
    "ledger.md": "reference/ledger.md",
    "guarantee.md": "explanation/guarantee.md",
    "threat-model.md": "explanation/threat-model.md",
    "console.md": "how-to/console.md",
    "architecture.md": "explanation/architecture.md",
    "replication-1.md": "replications/paper-1.md",
    "replication-2.md": "replications/paper-2.md",
    "replication-3.md": "replications/paper-3.md",
    "replication-4.md": "replications/paper-4.md",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{target}">
<meta http-equiv="refresh" content="0; url={target}">
<p>This page has moved to <a href="{target}">{target}</a>.</p>
</html>
"""


def on_post_build(config: MkDocsConfig) -> None:
    """Write a page at each old address."""
    for old, new in MOVED.items():
        page = Path(config.site_dir, _address(old))
        target = posixpath.relpath(_address(new), posixpath.dirname(old) or ".")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_PAGE.format(target=target), encoding="utf-8")


def _address(page: str) -> str:
    return page.removesuffix(".md") + ".html"
