"""Confirmation before an audit is paid, if a person uses the terminal."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import typer
from rich.console import Console

from auditor_client.auditor import Auditor
from auditor_client.audits.offers import Offer
from auditor_client.cli.output import printable


def confirm(auditor: Auditor, kind: str, said: Mapping[str, Any], *, yes: bool, new: bool) -> None:
    """Show price and forecast, and ask; refuse defaults whose forecast is no answer. `yes` skips
    both.
    """
    if yes:
        return
    offer = auditor.audits.offer(kind, **said)
    if not new and auditor.pending.is_pending(offer.request.model_dump(mode="json")):
        return  # the person has confirmed this audit before, and it is charged once
    offer.refuse_hopeless({name: each for name, each in said.items() if each is not None})
    ask_on_terminal(lambda: offer)


def ask_on_terminal(make: Callable[[], Offer]) -> None:
    """Show an offer and ask for confirmation, if a person uses the terminal."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        _ask(make())


def _ask(offer: Offer) -> None:
    """Show an offer on the terminal, and end the command unless it is accepted."""
    console = Console(stderr=True, soft_wrap=True)
    remaining, currency = offer.quote.remaining_after, offer.quote.price.currency
    console.print(
        printable(f"This audit costs {offer.debit} {currency}; {remaining} would remain."),
        style="bold",
    )
    console.print(printable(str(offer.forecast)))
    if not typer.confirm("Pay and run?", err=True):
        console.print("Nothing was paid.")
        raise typer.Exit(1)
