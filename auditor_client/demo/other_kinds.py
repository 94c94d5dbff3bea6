"""Short audits of every other kind on the demo's platform, each with the simulation's true value.

A thread acts as the demo's regulator, a second person, and opens the two-party run.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from rich.console import Console

from auditor_client.audiences.client import NamedAudience
from auditor_client.auditor import Auditor
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import auditor_kind, kind_of
from auditor_client.kinds.two_party.metrics import histogram
from auditor_client.local.keys import load_key, public_jwk
from auditor_client.regulator import Regulator
from openapi.kinds.registry import CONTRACTS
from openapi.resources import Content

PURPOSE = "A tour of all kinds of audit (DSA Art. 40(4))"
# Budget that is enough for the tour and for the steps of its exploration.
EPSILON, EXPLORATION = 400, 100_000
ATTRIBUTE = "gender"
GROUPS, FEW_PEOPLE, MOST_PEOPLE = ("woman", "man"), 400, 4_000
NEEDS_MANY = {"logs", "traffic", "policies"}
HIDDEN_PEOPLE, TWO_PARTY_EPSILON = 300, 1
SCORES = [step / 20 for step in range(21)]

console = Console(highlight=False, soft_wrap=True)


def show(auditor: Auditor, host: Mapping[str, Any], folder: Path) -> None:
    """Run one audit of every kind except the score histogram, and print its result."""
    console.rule("[bold]Every other kind of audit")
    with Regulator(host["url"], host["regulator_id"], host["regulator_key"]) as regulator:
        mandate = regulator.mandates.grant(
            _auditor_id(auditor),
            purpose=PURPOSE,
            kinds=auditor.catalogue().kinds,
            epsilon_limit=EPSILON,
            exploration_limit=EXPLORATION,
            valid_until=datetime.now(UTC) + timedelta(days=90),
        ).id
        contents = [auditor.contents.upload(**fields) for fields in host["contents"]]
        asked = {
            kind: auditor.audits.submit(
                _request(kind, mandate, _draw_people(auditor, kind), contents)
            )
            for kind in host["truths"]
        }
        for kind, audit in asked.items():
            found = auditor.audits.finish(audit.id, progress=False)
            _tell(found, host["truths"][kind], folder)
        with _opened_by(regulator):
            hidden = _two_party(auditor, host, mandate, contents[0])
        _tell(hidden, f"the true gap is {host['truth']:.3f}", folder)


def _auditor_id(auditor: Auditor) -> str:
    """Return the organisation to which the mandates of this researcher were granted."""
    return auditor.budget().mandates[0].auditor_id


def _draw_people(auditor: Auditor, kind: str) -> NamedAudience:
    """Have the platform draw new people of each gender for an audit of this kind.

    One sample for all kinds would not do: after a few audits its people are at their lifetime cap,
    and are left out. Kinds that read logs or show recommendations need more people.
    """
    offers = auditor.catalogue().samples
    offered = {each.value: each.available for each in offers if each.attribute == ATTRIBUTE}
    most = MOST_PEOPLE if CONTRACTS[kind].reads in NEEDS_MANY else FEW_PEOPLE
    sizes = {name: min(offered[name], most) for name in GROUPS}
    return auditor.audiences.sample(ATTRIBUTE, sizes, consented=True)


def _request(kind: str, mandate: str, audience: NamedAudience, contents: list[Content]) -> Any:
    """Return the contract's example, with the people and contents of the demo."""
    contract = CONTRACTS[kind]
    named = {"audience_id": audience.id, "mandate_id": mandate}
    body: dict[str, Any] = {**contract.example, **named, **auditor_kind(kind).demonstration}
    if "corrections" in body:
        labels = {name: label for label, name in audience.names.items()}
        added = [each | {"label": labels[each["label"]]} for each in body["corrections"]]
        body["corrections"] = sorted(added, key=lambda each: each["label"])
    if "content_id" in body:
        body["content_id"] = contents[0].id
    if "contents" in body:
        body["contents"] = [content.id for content in contents]
    return contract.request.model_validate(body)


def _two_party(
    auditor: Auditor, host: Mapping[str, Any], mandate: str, content: Content
) -> Result[Any]:
    """Return an audit in which the platform does not learn who is in which group."""
    frame = pyarrow.csv.read_csv(host["participants"])
    qualified = frame.filter(pc.equal(frame["qualified"].cast(pa.string()), "true"))
    few = qualified.slice(0, HIDDEN_PEOPLE)
    people = auditor.audiences.upload_weighted(few, "email", "gender", progress=False)
    metric = histogram(content, SCORES)
    key = public_jwk(load_key(host["regulator_key"]))
    return auditor.audits.two_party(
        metric,
        people,
        regulator_key=key,
        epsilon=TWO_PARTY_EPSILON,
        mandate_id=mandate,
        progress=False,
    )


@contextmanager
def _opened_by(regulator: Regulator) -> Iterator[None]:
    """Have the regulator open every waiting run while the block runs."""
    done = threading.Event()

    def open_waiting() -> None:
        while not done.wait(0.5):
            for run in regulator.waiting_runs():
                if run.awaited == "opening":
                    found = regulator.open_run(run.audit_id)
                    honest = (
                        "was computed as agreed" if found.honest else "was not computed as agreed"
                    )
                    console.print(f"Opened   The regulator opened {run.audit_id}: it {honest}.")

    thread = threading.Thread(target=open_waiting, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(found: Result[Any], truth: str, folder: Path) -> None:
    contract, price = kind_of(found).contract, found.release.price
    answer = found.summary()
    report = found.report(folder / f"{contract.name}.html")
    colour = {"fair": "green", "unfair": "red"}.get(answer.verdict or "", "bold")
    console.print(
        f"\n[bold]{contract.title}[/] ({contract.name}, {price.debit} {price.currency})\n"
        f"Answer   [{colour}]{answer.sentence}[/]\nTruth    In the simulation, {truth}.\n"
        f"Report   {report}"
    )
