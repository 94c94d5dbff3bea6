"""`auditor receipt`: checks of a release against the platform's keys and its ledger."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auditor_client.auditor import Auditor
from auditor_client.cli.ledger import KeysFile
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import show_row
from auditor_client.errors import ReceiptError
from auditor_client.ledger import read_trust, verify_receipt
from auditor_client.local.saved_receipt import SavedReceipt

app = typer.Typer(help="Receipts of releases.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]


@app.command("verify")
def verify(file: File, keys: KeysFile, as_json: AsJson = False) -> None:
    """Check a receipt's signature and ledger entry, offline. Exit code 0 means that both hold."""
    saved = SavedReceipt.load(file)
    release = verify_receipt(saved, read_trust(keys))
    number = saved.proof.number if saved.proof else None
    stated = {"audit": release.audit_id, "kind": release.kind, "released_at": release.released_at}
    show_row({**stated, "entry": number, "verdict": "all holds"}, as_json=as_json)


@app.command("prove")
def prove(file: File, profile: ProfileName = DEFAULT_PROFILE) -> None:
    """Fetch the proof that the release is in the ledger, into the receipt's file."""
    saved = SavedReceipt.load(file)
    with Auditor.from_profile(profile) as auditor:
        proof = auditor.audits.proof(saved.release().audit_id)
    if proof is None:
        raise ReceiptError("No checkpoint covers the release yet. Try again in a minute.")
    replace(saved, proof=proof).save(file)
    Console().print(f"{file} now holds the proof: entry {proof.number}.")
