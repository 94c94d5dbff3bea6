"""`auditor ledger`: the append-only ledger, and its verification without trust in the platform."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, pairs
from auditor_client.cli.output import print_json, show_row, show_rows
from auditor_client.ledger import make_trust, read_trust, verify_file
from auditor_client.ledger.session import LedgerConnection
from auditor_client.local.keys import load_key, public_jwk, read_public
from auditor_client.local.profiles import load_profile
from privacy.ledger.verify import Verified

app = typer.Typer(help="The append-only ledger.", no_args_is_help=True)

KeysFile = Annotated[
    Path, typer.Option("--keys", exists=True, dir_okay=False, help="The keys you trust.")
]
Witnessed = Annotated[
    list[Path] | None,
    typer.Option(
        "--witnessed", exists=True, help="A checkpoint that a witness gave you, repeatable."
    ),
]

# Sentences about claims that the verifier accepted as stated.
NOTICES = {
    "charge-older"
    "": "{charges} charge(s) of the kind {about} in format 2, which states no parts. The "
    "price matches the request, and the bounds are unknown.",
    "third-party-bounds"
    "": "{charges} charge(s) of the kind {about}, which a package added. Their bounds were "
    "accepted as the package states them.",
    "kind-unknown"
    "": "{charges} charge(s) of the kind {about}, which this version does not know. Their "
    "numbers are consistent, but were not computed from the request.",
    "audience-older"
    "": "{charges} charge(s) of the kind {about} on audiences that were sealed before format "
    "3. Their bounds were not computed from the request.",
    "rule-unknown"
    "": "{charges} charge(s) with bounds by the rule {about}, which this version does not "
    "know. Their sensitivity was accepted as stated.",
    "sensitivity-stated": (
        "{charges} charge(s) state the sensitivity of {about} without a rule. It was "
        "accepted as stated. It was accepted as stated."
    ),
}


@app.command("entries")
def entries(
    kind: Annotated[str | None, typer.Option(help="Only of this kind.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Largest number of entries, newest first.")
    ] = 50,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """List the entries that you may see, newest first."""
    with LedgerConnection.from_profile(profile) as connection:
        found = list(islice(connection.ledger.entries(kind), limit))
    columns = ["number", "at", "kind", "auditor_id", "facts"]
    show_rows([entry.model_dump() for entry in found], columns, as_json=as_json)


@app.command("export")
def export(
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="File for JSON lines, or for Parquet if the name ends in .parquet."
        ),
    ],
    profile: ProfileName = DEFAULT_PROFILE,
) -> None:
    """Write the ledger up to its newest checkpoint; for auditors, their own entries with proofs."""
    with LedgerConnection.from_profile(profile) as connection:
        connection.ledger.export(out)
    Console().print(f"{out} is written. Check it: auditor ledger verify {out} --keys KEYS")


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False)],
    keys: KeysFile,
    witnessed: Witnessed = None,
    forgetful: Annotated[
        bool,
        typer.Option("--forgetful", help="Do not compare with stored checkpoints, and store none."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check hashes, signatures and balances of an export, offline. Exit code 0 means that all
    hold.
    """
    heads = [path.read_text(encoding="utf-8") for path in witnessed or ()]
    found = verify_file(file, read_trust(keys), witnessed=heads, memory=not forgetful)
    if as_json:
        counts = {"entries": dict(found.counts), "notices": _notices(found)}
        print_json({"size": found.size, "root": found.root.hex(), **counts})
        return
    whole = f"the entries of {found.auditor}" if found.auditor else "all entries"
    Console().print(f"All checks hold: {whole} under the checkpoint of size {found.size}.")
    rows = [{"kind": kind, "entries": count} for kind, count in sorted(found.counts.items())]
    show_rows(rows, ["kind", "entries"], as_json=False)
    for notice in _notices(found):
        said = NOTICES[notice["code"]].format(**notice)
        Console().print(f"Notice: {said}", markup=False)


def _notices(found: Verified) -> list[dict[str, Any]]:
    return [
        {"code": code, "about": about, "charges": charges}
        for (code, about), charges in sorted(found.notices.items())
    ]


@app.command("head")
def head(
    keys: KeysFile,
    witnessed: Witnessed = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Show the newest checkpoint, if it is consistent with all checkpoints that this machine or a
    witness has seen.
    """
    heads = [path.read_text(encoding="utf-8") for path in witnessed or ()]
    with LedgerConnection.from_profile(profile) as connection:
        found = connection.ledger.head(read_trust(keys), heads)
    show_row(
        {"origin": found.origin, "size": found.size, "root": found.root.hex()}, as_json=as_json
    )


@app.command("cosign")
def cosign(
    keys: KeysFile,
    out: Annotated[
        Path | None, typer.Option("--out", help="File for the cosigned checkpoint.")
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
) -> None:
    """Check, as a regulator, that the checkpoint is consistent with earlier ones, and sign it as a
    witness.
    """
    with LedgerConnection.from_profile(profile) as connection:
        signed = connection.ledger.cosign(read_trust(keys))
    if out:
        out.write_text(signed.note, encoding="utf-8")
    Console().print(f"You cosigned the checkpoint of {signed.size} entries.")


@app.command("keys")
def keys_file(
    out: Annotated[Path, typer.Option("--out", help="File to write.")],
    regulator: Annotated[
        list[str] | None,
        typer.Option(help="RESEARCHER=FILE: a regulator's public JWK, repeatable."),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
) -> None:
    """Write a file of trusted keys: those that the platform states now, and those of regulators.

    Compare the platform's keys once with those that it published elsewhere. Obtain each regulator's
    key from that regulator. The command adds your own key if you are a regulator.
    """
    regulators = {name: read_public(Path(file)) for name, file in pairs(regulator or []).items()}
    if not regulators:
        mine = load_profile(profile)
        regulators = {mine.researcher: public_jwk(load_key(mine.key))}
    with LedgerConnection.from_profile(profile) as connection:
        trust = make_trust(connection.ledger.keys(), regulators)
    out.write_text(str(trust), encoding="utf-8")
    Console().print(f"{out} is written: {len(regulators)} regulator(s), origin {trust.origin}.")
