"""The demo's study: a regulator grants a mandate, a researcher audits three platforms.

Everything here uses HTTP and keys, as in production. The hosts write `demo.json`, which gives the
addresses of the services and (for the last line only) their true values.
"""

import json
import os
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.csv
from rich.console import Console

from auditor_client.auditor import Auditor
from auditor_client.demo import other_kinds
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.ledger import make_trust, verify_file, verify_receipt
from auditor_client.local.keys import load_key, new_key, public_jwk
from auditor_client.local.profiles import save_profile
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.planning.default_bins import USUAL
from auditor_client.planning.sample_size import sample_size, verdict_size
from auditor_client.regulator import Regulator
from auditor_client.reporting.price_sentences import both_relations
from auditor_client.transport.session import Connection
from auditor_client.vetting.application_file import TEMPLATE, application_of
from auditor_client.vetting.client import Applicant

# Bins are those of the planner, as in every audit that does not name its own.
ALPHA, DELTA, EPSILON = 0.2, 0.05, 1.0
# Enough for an audit of every kind, and some tries.
EPSILON_LIMIT = 100
# Reward that people may lose in audits of envy: enough for seven audits like that of
# docs/explanation/envy.md.
EXPLORATION = 500_000
JOB_AD: dict[str, Any] = {
    "kind": "job",
    "title": "Software engineer",
    "text": "Build and run data pipelines.",
    "attributes": {"occupation": "software"},
}
RIGHT = {"fair": "fair", "biased": "unfair", "learned": "unfair"}
NOTEBOOKS = "Systemic risk of discrimination in ads and political content (DSA Art. 40(4))"
JOB_ADS = "Systemic risk of discrimination in the delivery of job ads (DSA Art. 40(4))"

console = Console(highlight=False, soft_wrap=True)


def main(folder: Path, *, stay: bool) -> int:
    """Plan once, audit each platform, and print whether the verdicts are right."""
    os.environ["PLATFORM_AUDITOR_HOME"] = str(folder / "home")
    hosts = json.loads((folder / "demo.json").read_text())
    _plan()
    studied = [host for host in hosts if host["name"] in RIGHT]
    verdicts = {host["name"]: _study(host, folder / host["name"]) for host in studied}
    # `make serve` continues with commands for the reader to try.
    for host in () if stay else studied:
        if "truths" in host:
            with Auditor.from_profile(_profile(host, "researcher")) as auditor:
                other_kinds.show(auditor, host, folder / host["name"])
    _how_to_go_on(folder, hosts, stay=stay)
    # With few people an ordinary bias may remain open; it is never called fair.
    open_ = {("learned", "inconclusive")}
    wrong = [name for name, said in verdicts.items() if said != RIGHT[name]]
    wrong = [name for name in wrong if (name, verdicts[name]) not in open_]
    if wrong:
        console.print(f"[bold red]wrong verdict on: {', '.join(wrong)}[/]")
    return 1 if wrong else 0


def _plan() -> None:
    console.rule("[bold]Plan")
    bins = 3 * USUAL
    printed = sample_size(ALPHA, DELTA, 2, bins, EPSILON, "theorem-1")
    needed = verdict_size(ALPHA, DELTA, groups=2, bins=bins, epsilon=EPSILON, audience="upload")
    console.print(
        f"Does the platform score a job ad equally for women and men? α = {ALPHA}, δ = "
        f"{DELTA}, ε = {EPSILON:g}, {bins} bins.\nPeople per group: {printed:,} by the "
        f"paper's Theorem 1; {needed:,} for a verdict with power 0.8 by our interval."
    )


def _study(host: dict[str, Any], folder: Path) -> str:
    """Run one audit of one platform, from mandate to verdict, and return the verdict."""
    console.rule(f"[bold]Platform: {host['name']}")
    # The learned platform is for the notebooks too.
    auditor = _vetted(host, folder, NOTEBOOKS if host["name"] == "learned" else JOB_ADS)
    frame = pyarrow.csv.read_csv(host["participants"])
    content = auditor.contents.upload(**JOB_AD)
    console.print(f"Content  {content.title!r}, {content.digest[:19]}…")
    audience = auditor.audiences.upload(frame, id="email", by="gender", where="qualified")
    members = ", ".join(f"{count} {name}" for name, count in audience.members.items())
    console.print(f"Audience {members} uploaded; commitment {str(audience.commitment)[:19]}…")
    quote = auditor.audits.price(content, audience, epsilon=EPSILON)
    price = quote.price
    console.print(
        f"Price    {both_relations(price)} {price.debit} ({price.currency}) is debited.\n"
        f"Budget   {quote.remaining_before} before, {quote.remaining_after} after."
    )
    audit = auditor.audits.run(content, audience, epsilon=EPSILON)
    left = auditor.budget().mandates[0].remaining
    console.print(f"Audit    {audit.id} released; the ledger says {left} is left.")
    verdict = _result(audit, folder, host)
    _inspect(host, folder)
    return verdict


def _vetted(host: dict[str, Any], folder: Path, purpose: str) -> Auditor:
    """Register the researcher's public key and grant a mandate, as a regulator does first."""
    profile = _profile(host, "researcher")
    key = folder / "researcher.jwk"
    jwk = new_key(key)
    with Regulator(host["url"], host["regulator_id"], host["regulator_key"]) as regulator:
        lab = regulator.auditors.add("Open Audit Lab")
        person = regulator.researchers.add("Ada Byron", auditor_id=lab.id, jwk=jwk)
        save_profile(profile, host["url"], person.id, key)
        auditor = Auditor.from_profile(profile)
        mandate = regulator.mandates.grant(
            lab.id,
            purpose=purpose,
            kinds=auditor.catalogue().kinds,
            epsilon_limit=EPSILON_LIMIT,
            exploration_limit=EXPLORATION,
            valid_until=datetime.now(UTC) + timedelta(days=90),
        )
    console.print(
        f"Mandate  ε {mandate.epsilon_limit} until {mandate.valid_until:%Y-%m-%d}, for all kinds of"
        " audit that the platform offers"
    )
    return auditor


def _result(audit: ScoreHistogramResult, folder: Path, host: dict[str, Any]) -> str:
    gap = audit.fairness_gap(delta=DELTA)
    verdict = gap.verdict(alpha=ALPHA)
    colour = {"fair": "green", "unfair": "red"}.get(verdict, "yellow")
    report = audit.report(folder / "report.html", alpha=ALPHA, delta=DELTA)
    receipt = audit.save_receipt(folder / "receipt.json")
    above = gap.threshold
    assert above is not None  # noqa: S101 - there are edges
    console.print(
        f"Bins     gap {gap.efg:.3f} measured; between {gap.low:.3f} and {gap.high:.3f} with "
        f"probability {1 - DELTA:.0%}\nEdges    gap {above.estimate:.3f} measured; between "
        f"{above.low:.3f} and {above.high:.3f} with probability {1 - DELTA:.0%}\n"
        f"Verdict  [bold {colour}]{verdict}[/] (α = {ALPHA}); the simulation's true gap is "
        f"{host['truth']:.3f} in single bins and {host['truth_of_thresholds']:.3f} above an edge "
        f"(20 bins)\nFinding  {audit.summary(ALPHA, DELTA).sentence}\n"
        f"Written  {report}\n         {receipt}"
    )
    return verdict


def _inspect(host: dict[str, Any], folder: Path) -> None:
    """Export the ledger and check it without trust in the platform, as a regulator may at any
    time.
    """
    profile = _profile(host, "regulator")
    save_profile(profile, host["url"], host["regulator_id"], host["regulator_key"])
    own = public_jwk(load_key(host["regulator_key"]))
    with Regulator.from_profile(profile) as regulator:
        trust = make_trust(regulator.ledger.keys(), {host["regulator_id"]: own})
        regulator.ledger.cosign(trust)
        export = regulator.ledger.export(folder / "ledger.jsonl")
    (folder / "keys.json").write_text(str(trust), encoding="utf-8")
    found = verify_file(export, trust)
    verify_receipt(SavedReceipt.load(folder / "receipt.json"), trust)
    console.print(
        f"Ledger   {found.size} entries verified offline: hashes, signatures and "
        "balances; the receipt is among them"
    )


def _how_to_go_on(folder: Path, hosts: list[dict[str, Any]], *, stay: bool) -> None:
    console.rule("[bold]Next steps")
    if not stay:
        console.print(f"Open {folder / 'biased' / 'report.html'} in a browser.")
        console.print("make serve      leaves the services running for you to try")
        return
    for host in hosts:
        _apply(host, folder / host["name"])
        console.print(f"{host['name']:8} {host['url']}  (contract at {host['url']}/openapi.json)")
        if "participants" in host:
            console.print(f"         people to upload: {Path(host['participants']).absolute()}")
        _show_console(host)
    console.print(
        f"export PLATFORM_AUDITOR_HOME={folder.absolute() / 'home'}\nauditor budget "
        "--profile demo\nauditor audit list --profile demo-biased\nauditor ledger "
        "entries --profile demo-regulator\nauditor console --profile demo     opens the "
        "console again, also as demo-regulator\nThe notebooks in docs/examples find "
        "these services without settings.\nStop with Ctrl-C."
    )


def _apply(host: dict[str, Any], folder: Path) -> None:
    """Apply for access as another person, so that the regulator can decide on it in the console."""
    key = folder / "applicant.jwk"
    new_key(key)
    fields = tomllib.loads(TEMPLATE) | {"organisation": "News Observatory"}
    application = application_of(fields, load_key(key), folder)
    applicant, _ = Applicant.apply(host["url"], key, application)
    applicant.close()


def _show_console(host: dict[str, Any]) -> None:
    """Print the console's address, and a one-time link for each person of the demo."""
    console.print(f"         console at {host['url']}/console; each link works once, for 10 min:")
    for persona in ("researcher", "regulator", "operator"):
        profile = _profile(host, persona)
        if persona != "researcher":
            save_profile(profile, host["url"], host[f"{persona}_id"], host[f"{persona}_key"])
        with Connection.from_profile(profile) as connection:
            console.print(f"         {persona:10} {connection.console_link().url}")


def _profile(host: dict[str, Any], persona: str) -> str:
    """Return the name of the profile of one of the demo's people, at one platform."""
    start = "demo" if host["name"] == "fair" else f"demo-{host['name']}"
    return start if persona == "researcher" else f"{start}-{persona}"


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), stay="--stay" in sys.argv))
    except KeyboardInterrupt:
        sys.exit(130)
