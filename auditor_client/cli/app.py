"""The whole command. Every failure prints a clear line and ends with exit code 1."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from auditor_client.cli import (
    account,
    analyse,
    applications,
    audiences,
    audit_commands,
    audits,
    canary,
    console,
    contents,
    demographics,
    envy,
    insight,
    keys,
    ledger,
    mandates,
    operator,
    outcome,
    planning,
    receipts,
    regulator,
    regulator_decisions,
    reo,
    reo_plan,
    reports,
    studies,
    two_party,
)
from auditor_client.cli.charging import exit_for
from auditor_client.cli.output import printable
from auditor_client.errors import AuditorError
from auditor_client.local.progress import lines_when_piped
from openapi.complaints import usage_in_plain_words
from openapi.kinds.two_party import KIND as TWO_PARTY

_READER_GONE = 141


@contextmanager
def _interruptible() -> Iterator[None]:
    """Say in one line that a command was interrupted; one that may charge says what it left."""
    try:
        yield
    except KeyboardInterrupt as stop:
        Console(stderr=True).print("Interrupted.")
        raise exit_for(stop) from stop


@contextmanager
def _end_when_reader_is_gone() -> Iterator[None]:
    """End without a message if the reader of the output has gone, as `head` does after its lines.

    The exit code is that of a command that SIGPIPE ends: 128 plus the signal's number.
    """
    try:
        try:
            yield
        finally:
            print(end="", flush=True)
    except (BrokenPipeError, SystemExit) as error:
        # Rich turns a broken pipe into an exit.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # The rest of the output goes nowhere, so that Python does not report it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(_READER_GONE) from error


class Commands(TyperGroup):
    """Commands that print expected errors without a traceback."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with (
            _interruptible(),
            _end_when_reader_is_gone(),
            usage_in_plain_words(typer.BadParameter),
        ):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _end_when_reader_is_gone():
            return self._invoke(ctx)

    def _invoke(self, ctx: Any) -> Any:
        try:
            with _interruptible(), lines_when_piped(), usage_in_plain_words(typer.BadParameter):
                return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (AuditorError, OSError) as error:
            console = Console(stderr=True, soft_wrap=True)
            words = " ".join([str(error), *getattr(error, "__notes__", [])])
            console.print("[bold red]Error:[/]", printable(words))
            raise typer.Exit(1) from error


app = typer.Typer(
    name="auditor",
    cls=Commands,
    help="Audit a platform's relevance estimators under differential privacy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(keys.key_app, name="key")
app.add_typer(keys.profile_app, name="profile")
app.add_typer(contents.app, name="content")
app.add_typer(audiences.app, name="audience")
app.add_typer(audits.app, name="audit")
audit_commands.add_to(audits.app)
audits.app.command(audits.STUDY, hidden=True)(studies.run_study)
app.add_typer(studies.app, name="study")
app.add_typer(regulator.app, name="regulator")
insight.add_to(regulator.app)
regulator_decisions.add_to(regulator.app)
app.add_typer(operator.app, name="operator")
app.add_typer(applications.app, name="application")
app.add_typer(account.app, name="me")
app.add_typer(account.webhook_app, name="webhook")
app.command("apply")(applications.apply)
app.add_typer(ledger.app, name="ledger")
app.add_typer(receipts.app, name="receipt")
app.command("console")(console.console)
app.command("catalogue")(contents.catalogue)
app.command("plan")(planning.plan)
app.command("price")(audit_commands.price())
app.command("budget")(mandates.budget)
app.command("analyse")(analyse.analyse)
app.add_typer(canary.app, name="canary")
app.command("report")(reports.report)
app.command("outcome")(outcome.outcome)
app.command()(reo.reo)
app.command("reo-plan")(reo_plan.plan)
audits.app.command(TWO_PARTY.name)(two_party.audit)
app.command("bisg")(demographics.bisg)
regulator.app.command("open")(two_party.open_run)
regulator.app.command("runs")(two_party.waiting_runs)
app.command("envy-plan")(envy.plan)
# Made while the modules load: Ctrl-C is handled then (`auditor_client.cli.__main__`).
_command = get_command(app)


def main() -> None:
    """Run the `auditor` command, whose modules are loaded."""
    _command()
