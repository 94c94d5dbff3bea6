"""`auditor apply` and `auditor application`: apply for access, answer, withdraw."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName
from auditor_client.cli.output import print_json, show_row, show_rows
from auditor_client.errors import InputError
from auditor_client.local.keys import load_key
from auditor_client.local.profiles import load_profile, load_profiles, save_profile
from auditor_client.vetting.application_file import (
    TEMPLATE,
    add_agreement,
    read_application,
    read_prepared,
    write_application,
)
from auditor_client.vetting.client import Applicant, ledger_origin, principal_of
from openapi.resources import Application, Deadline, IndividualDraft

app = typer.Typer(help="Your applications for access.", no_args_is_help=True)

ApplicationId = Annotated[str, typer.Argument(metavar="APPLICATION")]
ApplicationFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="The application, TOML or JSON.")
]


def apply(
    file: ApplicationFile = None,
    url: Annotated[str | None, typer.Option(help="The address of the service.")] = None,
    key: Annotated[Path | None, typer.Option(help="The file of your private key.")] = None,
    template: Annotated[bool, typer.Option(help="Print an example to fill in.")] = False,
    prepare: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Send nothing: write the text to which co-applicants must agree."
        ),
    ] = None,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Apply for access; applicants need no registration. Save a profile with which to sign in."""
    if template:
        typer.echo(TEMPLATE, nl=False)
        return
    if file is None:
        raise InputError("Give the file of the application; --template prints an example.")
    if prepare is not None:
        _prepare(file, key, prepare)
        return
    where, key_file = _whose(url, key, profile)
    applicant, made = Applicant.apply(where, key_file, read_application(file, load_key(key_file)))
    applicant.close()
    save_profile(profile, where, principal_of(made), key_file)
    show_application(made, as_json)


@app.command("agree")
def agree(
    file: Annotated[Path, typer.Argument(help="The application that the principal prepared.")],
    url: Annotated[
        str, typer.Option(help="The address of the service that receives the application.")
    ],
    key: Annotated[Path, typer.Option(help="The file of your private key.")],
) -> None:
    """Agree to be named in an application, and prove that you hold the key that it states for
    you.
    """
    private_key = load_key(key)
    made = add_agreement(read_prepared(file), private_key, ledger_origin(url))
    write_application(file, made)
    waiting = [who.name.text for who in made.individuals if _is_waited_for(who)]
    rest = (
        f"The application still waits for {', '.join(waiting)}."
        if waiting
        else "The principal can send it."
    )
    Console().print(f"{file} holds your agreement. {rest}")


@app.command("list")
def list_applications(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List the applications that name you."""
    with Applicant.from_profile(profile) as applicant:
        show_applications(applicant.applications(), as_json)


@app.command("status")
def status(
    application: ApplicationId, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Show an application's state, deadline and history."""
    with Applicant.from_profile(profile) as applicant:
        show_application(applicant.application(application), as_json)


@app.command("answer")
def answer(
    application: ApplicationId,
    file: Annotated[Path, typer.Argument(help="The whole new version, TOML or JSON.")],
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Answer a request for changes with a new version of the application."""
    private_key = load_key(load_profile(profile).key)
    with Applicant.from_profile(profile) as applicant:
        show_application(
            applicant.answer(application, read_application(file, private_key)), as_json
        )


@app.command("withdraw")
def withdraw(
    application: ApplicationId, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Withdraw an undecided application."""
    with Applicant.from_profile(profile) as applicant:
        show_application(applicant.withdraw(application), as_json)


def show_applications(applications: list[Application], as_json: bool) -> None:
    rows = [_short(each) if not as_json else each.model_dump() for each in applications]
    show_rows(rows, ["id", "organisation", "state", "version", "due"], as_json=as_json)


def show_application(application: Application, as_json: bool) -> None:
    """Print what the application asks for, its state and its history."""
    if as_json:
        print_json(application.model_dump())
        return
    fields = application.model_dump(exclude={"history", "deadline", "individuals"})
    people = [f"{who.name or 'erased'} ({who.researcher_id})" for who in application.individuals]
    due = application.deadline
    show_row(
        {
            **{name: value for name, value in fields.items() if value is not None},
            "individuals": people,
            "next": f"{due.who}: {due.what} until the {_end(due)} ({due.law})"
            if due
            else "nothing",
        },
        as_json=False,
    )
    events = [event.model_dump() for event in application.history]
    show_rows(events, ["number", "kind", "state", "at", "text"], as_json=False)


def _end(deadline: Deadline) -> str:
    """Return the last day of a period and the time zone in which it ends."""
    return f"end of {deadline.last_day}, {deadline.time_zone}"


def _prepare(file: Path, key: Path | None, out: Path) -> None:
    if key is None:
        raise InputError("Give --key, the file of the principal's private key.")
    write_application(out, read_application(file, load_key(key)))
    Console().print(
        f"{out} is written. Each co-applicant runs: auditor application agree {out} --url … --key …"
    )


def _is_waited_for(individual: IndividualDraft) -> bool:
    return individual.role != "principal" and individual.proof is None


def _short(application: Application) -> dict[str, Any]:
    due = application.deadline
    return {**application.model_dump(), "due": due and _end(due)}


def _whose(url: str | None, key: Path | None, profile: str) -> tuple[str, Path]:
    """Return the service and the key: the given ones, or those of the profile."""
    saved = load_profiles().get(profile)
    if url is None and key is None and saved is not None:
        return saved.url, Path(saved.key)
    if url is None or key is None:
        raise InputError("Give --url and --key, or a --profile that has them.")
    if not url.startswith(("https://", "http://")):
        raise InputError(
            f"{url!r} is not the address of a service. An address starts with https://"
        )
    if saved is not None and (saved.url, saved.key) != (url, str(key.absolute())):
        raise InputError(
            f"The profile {profile!r} already exists. Nothing was sent. Choose another name "
            "with --profile."
        )
    return url, key
