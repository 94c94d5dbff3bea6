"""A finished audit on the command line: its receipt is kept, then it is shown."""

from pathlib import Path

from auditor_client.cli.output import show_row
from auditor_client.cli.summary import result_row
from auditor_client.kinds.registry import OtherResult


def keep(audit: OtherResult, receipt: Path | None) -> None:
    """While still connected: the receipt takes the ledger's proof along."""
    if receipt:
        audit.save_receipt(receipt)


def keep_and_show(audit: OtherResult, receipt: Path | None, as_json: bool) -> None:
    keep(audit, receipt)
    show_row(result_row(audit), as_json=as_json)
