"""Finished audits on the command line: the receipt is kept first, then the answer is shown."""

from pathlib import Path
from typing import Any

from auditor_client.cli.summary import show_result
from auditor_client.kinds.protocol import Result


def keep(audit: Result[Any], receipt: Path | None) -> None:
    """Save the receipt while connected, so that it takes the ledger's proof along."""
    if receipt:
        audit.save_receipt(receipt)


def keep_and_show(
    audit: Result[Any],
    receipt: Path | None,
    as_json: bool,
    alpha: float | None = None,
    delta: float = 0.05,
) -> None:
    """Save the receipt if a file is named, and print the answer."""
    keep(audit, receipt)
    show_result(audit, alpha, delta, as_json=as_json)
