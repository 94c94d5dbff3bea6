"""`auditor audit KIND`: one command for every kind, made from its contract at run time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import typer
from rich.markup import escape

from auditor_client.auditor import Auditor
from auditor_client.cli.audit_options import COMMON, Payment, judgement_options
from auditor_client.cli.charging import charging
from auditor_client.cli.confirming import confirm
from auditor_client.cli.parameters import derive_options, parameters, with_signature
from auditor_client.cli.prices import show_offer
from auditor_client.cli.summary import show_result
from auditor_client.kinds.asking.running import RunOptions
from auditor_client.kinds.auditor_kind import AuditorKind
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import AUDITOR_KINDS
from openapi.kinds.registry import DEFAULT


def add_to(app: typer.Typer) -> None:
    """Add a command for every installed kind, built-in or from a package."""
    for kind in AUDITOR_KINDS.values():
        if kind.asking.by_hand:
            continue
        command = command_for(kind)
        app.command(kind.name, help=_help(kind), short_help=_lead(kind))(command)
        for name in kind.asking.aliases:
            app.command(name, help=f"Earlier name of `{kind.name}`.", hidden=True)(command)
        if kind.name == DEFAULT:
            short = f"Short form of `{kind.name}`."
            app.command("run", help=f"{short} {_help(kind)}", short_help=short)(command)


def _lead(kind: AuditorKind) -> str:
    """Return the question that a kind answers, in one sentence."""
    return escape(kind.contract.question.split(". ")[0].rstrip(".") + ".")


def _help(kind: AuditorKind) -> str:
    return (
        f"{escape(kind.contract.question)}\n\nAfter an interruption, the same command "
        "continues the same audit, which is charged once."
    )


def price() -> Callable[..., None]:
    """Return the command that prices the default kind: short form of `audit KIND --price`."""
    kind = AUDITOR_KINDS[DEFAULT]
    names = {each.name for each in parameters(kind)} | {"levels", "edges"}
    common = [each for each in COMMON if each.name in ("mandate", "profile", "as_json")]

    def command(**given: Any) -> None:
        """Show the price of such an audit. Every kind has --price: auditor audit KIND --help."""
        said = {name: given[name] for name in names if given.get(name) is not None}
        with Auditor.from_profile(given["profile"]) as auditor:
            offer = auditor.audits.offer(kind.name, **_with_edges(said), mandate=given["mandate"])
        show_offer(offer, as_json=given["as_json"])

    return with_signature(command, [*derive_options(kind), *common])


def command_for(kind: AuditorKind) -> Callable[..., None]:
    """Return the command of a kind, with the signature that its contract defines."""
    names = {each.name for each in parameters(kind)} | {"levels", "edges"}
    judged = judgement_options(kind, names)

    def command(**given: Any) -> None:
        said = {name: value for name, value in given.items() if name in names and value is not None}
        judgement = {each.name: given[each.name] for each in judged}
        common = {each.name: given[each.name] for each in COMMON}
        run_kind(_Asked(kind, said, judgement), Payment(**common))

    return with_signature(command, [*derive_options(kind), *judged, *COMMON])


@dataclass(frozen=True)
class _Asked:
    """One audit requested by a command, and the options that judge it."""

    kind: AuditorKind
    said: Mapping[str, Any]
    judgement: Mapping[str, Any]


def run_kind(asked: _Asked, payment: Payment) -> None:
    """Price an audit; or confirm, pay and show it."""
    said = _with_edges(asked.said) | {"mandate": payment.mandate}
    if payment.price:
        with Auditor.from_profile(payment.profile) as auditor:
            show_offer(auditor.audits.offer(asked.kind.name, **said), as_json=payment.as_json)
        return
    with charging(payment.profile) as auditor:
        confirm(auditor, asked.kind.name, said, yes=payment.yes, new=payment.new)
        running = RunOptions(
            idempotency_key=payment.idempotency_key, new=payment.new, progress=not payment.quiet
        )
        result = auditor.audits.ask(asked.kind.name, running, **said)
        keep_and_show(result, payment, asked.judgement)


def _with_edges(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options, with `edges`, an option of earlier versions, as bins."""
    edges = said.get("edges")
    return {name: each for name, each in said.items() if name != "edges"} | (
        {"bins": edges} if edges else {}
    )


def keep_and_show(result: Result[Any], payment: Payment, judgement: Mapping[str, Any]) -> None:
    """Save receipt and report while connected, so that the receipt includes the ledger's proof."""
    if payment.receipt:
        result.save_receipt(payment.receipt)
    if payment.report:
        result.report(payment.report, **judgement)
    show_result(result, **judgement, as_json=payment.as_json)
