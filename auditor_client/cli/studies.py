"""`auditor audit FILE.yaml` and `auditor study`: whole studies, each from one file."""

from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from auditor_client.auditor import Auditor
from auditor_client.cli.charging import charging
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet
from auditor_client.cli.output import print_json, printable, show_row, show_rows
from auditor_client.errors import InputError
from auditor_client.ledger import read_trust
from auditor_client.local.profiles import load_profiles
from auditor_client.local.progress import bar
from auditor_client.reporting.results_document import Gap
from auditor_client.studies import Study, parse_study, read_study
from openapi.resources import BatchQuote, Quote

app = typer.Typer(
    help="Studies: several audits and their analyses in one file.", no_args_is_help=True
)

File = Annotated[Path, typer.Argument(metavar="STUDY", help="A study file (YAML).")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="The folder of results (default: next to the study file)."),
]
NO_DIGEST = "0" * 64


@app.command("init")
def init(
    file: Annotated[Path, typer.Argument(metavar="STUDY")] = Path("audit.yaml"),
    people: Annotated[Path, typer.Option(help="Your table of people.")] = Path("participants.csv"),
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Write a template of a study file."""
    from auditor_client.studies.template import template

    known = load_profiles().get(profile)
    platform = known.url if known else "https://audit.platform.example"
    found = sha256(people.read_bytes()).hexdigest() if people.exists() else NO_DIGEST
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(template(platform, str(people), found))
    except FileExistsError as error:
        raise InputError(
            f"{file} already exists. Nothing was written. Give another name."
        ) from error
    show_row({"study": str(file), "next": f"auditor study check {file}"}, as_json=as_json)


@app.command("check")
def check(
    file: File,
    registration: Annotated[
        Path | None, typer.Option(help="A registration.json to compare with the study.")
    ] = None,
    keys: Annotated[Path | None, typer.Option("--keys", help="The keys you trust.")] = None,
    profile: ProfileName = DEFAULT_PROFILE,  # noqa: ARG001  (every command takes it)
    as_json: AsJson = False,
) -> None:
    """Check a study, its files and its plan. Nothing is sent."""
    from auditor_client.studies.pinned_files import check_files
    from auditor_client.studies.size_check import group_sizes, needed

    study = read_study(file)
    check_files(study, file.parent)
    sizes = group_sizes(study, file.parent)
    row: dict[str, Any] = {
        "title": study.title,
        "digest": study.digest,
        "audits": list(study.audits),
        "people": sizes,
        "plan": needed(study, sizes),
    }
    if registration is not None:
        row["registered"] = _registered(study, registration, keys)
    show_row(row, as_json=as_json)


@app.command("register")
def register(file: File, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """Register a study now and run it later. Only its digest enters the ledger."""
    from auditor_client.studies.runner import Run

    with Auditor.from_profile(profile) as auditor:
        saved = Run(read_study(file), file.parent, auditor, progress=False).register()
    show_row(saved.registration.model_dump(), as_json=as_json)


@app.command("list")
def list_studies(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List your registered studies."""
    with Auditor.from_profile(profile) as auditor:
        rows = [study.model_dump() for study in auditor.studies.list()]
    show_rows(rows, ["digest", "entry", "at", "by"], as_json=as_json)


@app.command("run")
def run_study(
    file: File,
    out: Out = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Pay without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Upload (free), show the price, and stop.")
    ] = False,
    seal: Annotated[
        bool,
        typer.Option(
            "--seal", help="Seal the audiences whose people confirm, after all have confirmed."
        ),
    ] = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Run a study: check, upload, price, register, pay, verify, report.

    After an interruption, the same command continues, and nothing is charged twice. A study runs
    once. After its results are written, the same command writes them again and charges nothing.
    """
    from auditor_client.studies.output_folder import Folder, read_shown
    from auditor_client.studies.runner import Run

    source = _read(file)
    study = parse_study(source, str(file))
    folder = Folder(out or file.with_name(f"{file.stem}-results"))
    with charging(profile) as auditor:
        run = Run(study, file.parent, auditor, progress=not (quiet or as_json))
        if waiting := run.upload(seal=seal):
            _show_waiting(waiting, file, as_json)
            return
        if not dry_run:
            run.continue_sent()
        quote = run.price()
        if quote is not None:
            _show_price(run.unpaid, quote, as_json=as_json, last=dry_run)
        if dry_run:
            return
        if quote is not None:
            _agree(quote, yes=yes, as_json=as_json)
        saved = run.register() if study.preregister else None
        for name, audit in run.pay():
            folder.keep(name, audit)
        reported = study.canaries.shown if study.canaries else None
        shown = read_shown(file.parent / reported) if reported else {}
        with bar("Analysing", show=run.progress):
            results = folder.write(study, source, run.trust, saved, shown)
    if as_json:
        print(results.to_json(), end="")
        return
    rows = [{**found.model_dump(), **_gap_row(found.gap)} for found in results.audits]
    show_rows(rows, ["name", "kind", "verdict", "low", "high", "audit"], as_json=False)
    for check in results.canaries:
        Console().print(printable(f"Canaries, {check.check} of {check.audit}: {check.words}"))
    Console().print(f"Receipts, results, report and table are in {folder.path}.")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error


def _registered(study: Study, registration: Path, keys: Path | None) -> dict[str, Any]:
    from auditor_client.studies.registration_file import SavedRegistration

    if keys is None:
        raise InputError(
            "Give --keys, the file of keys that you trust. The command auditor ledger keys "
            "writes it."
        )
    saved = SavedRegistration.load(registration)
    saved.check(study.digest, read_trust(keys))
    return saved.registration.model_dump(include={"entry", "at", "by"})


def _show_waiting(codes: dict[str, str], file: Path, as_json: bool) -> None:
    """Print the codes with which people confirm; the study waits until they have."""
    if as_json:
        print_json({"waiting": codes})
        return
    for name, code in codes.items():
        Console().print(f"Ask the people of {name} to confirm on the platform, with code {code}.")
    Console().print(f"When they have: auditor audit {file} --seal")


def _show_price(names: list[str], quote: BatchQuote, *, as_json: bool, last: bool) -> None:
    """Print the price of the whole study; print it as JSON only if it is the answer."""
    rows = [
        {
            "audit": name,
            "debit": f"{one.price.debit} {one.price.currency}",
            "mandate": one.mandate_id,
            "remaining_after": one.remaining_after,
            "covered": "yes" if one.covered else "no",
            **_lost(one),
        }
        for name, one in zip(names, quote.quotes, strict=True)
    ]
    if as_json:
        if last:
            print_json({"unpaid": names, **quote.model_dump()})
        return
    show_rows(rows, list(dict.fromkeys(key for row in rows for key in row)), as_json=False)
    total = ", ".join(f"{amount} {currency}" for currency, amount in quote.debits.items())
    if loss := sum(one.price.exploration_loss for one in quote.quotes):
        total += f", and people may lose {loss} in reward"
    Console().print(f"Together: {total}.")


def _lost(quote: Quote) -> dict[str, Any]:
    """Return the reward that people may lose, compared with the mandate's limit."""
    if not quote.price.exploration_loss:
        return {}
    return {
        "people_may_lose": quote.price.exploration_loss,
        "exploration_after": quote.exploration_after,
    }


def _agree(quote: BatchQuote, *, yes: bool, as_json: bool) -> None:
    if not quote.covered:
        raise InputError(
            "The mandate does not cover all audits of the study, so nothing was paid. "
            "Use less epsilon, fewer audits or fewer steps, or ask your regulator for "
            "more budget. `auditor budget` shows what remains."
        )
    if yes:
        return
    if as_json:
        raise InputError(
            "With --json the command cannot ask for confirmation. Add --yes to pay, or "
            "--dry-run to see the price."
        )
    typer.confirm("Pay this?", abort=True)


def _gap_row(gap: Gap | None) -> dict[str, str]:
    from auditor_client.reporting.metric_sentences import round_down, round_up

    return {"low": round_down(gap.low), "high": round_up(gap.high)} if gap else {}
