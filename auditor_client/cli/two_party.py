"""`auditor audit two-party` and `auditor regulator open`: audits that hide the groups."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from auditor_client.audiences.client import Audiences
from auditor_client.audiences.file_tables import read_table
from auditor_client.audiences.weighted import WeightedAudience
from auditor_client.auditor import Auditor
from auditor_client.audits.offers import Offer
from auditor_client.cli.audit_options import (
    Key,
    MandateId,
    PriceOnly,
    ReceiptFile,
    ReportFile,
    Yes,
)
from auditor_client.cli.charging import New, charging
from auditor_client.cli.confirming import ask_on_terminal
from auditor_client.cli.options import DEFAULT_PROFILE, AsJson, ProfileName, Quiet, words
from auditor_client.cli.output import show_row, show_rows
from auditor_client.cli.prices import show_offer
from auditor_client.cli.summary import show_result
from auditor_client.errors import InputError
from auditor_client.kinds.two_party.request import public_bytes
from auditor_client.local.pending_claims import Claim
from auditor_client.regulator import Regulator
from auditor_client.transport.decimals import to_decimal
from openapi.complaints import complaints
from openapi.kinds.two_party import KIND
from openapi.resources import SoftMetric

AuditId = Annotated[str, typer.Argument(metavar="AUDIT")]


def audit(
    people: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file with one row per person.")
    ],
    metric: Annotated[
        Path, typer.Option(help="A JSON file: docs/explanation/two-party.md has examples.")
    ],
    id_column: Annotated[str, typer.Option("--id", help="The column of identifiers.")],
    groups: Annotated[
        str,
        typer.Option(
            help="Columns of probabilities, separated by commas; or one column of labels."
        ),
    ],
    regulator_key: Annotated[
        Path, typer.Option(help="The regulator's public JWK, from the regulator.")
    ],
    epsilon: Annotated[str, typer.Option(help="At most six decimal places.")] = "1",
    hidden: Annotated[
        bool, typer.Option("--hidden", help="Hide the people's identities from the platform.")
    ] = False,
    rows: Annotated[
        int | None,
        typer.Option(help="Rows to declare with --hidden (default: the number of people named)."),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(help="The audience as which these people were uploaded earlier.")
    ] = None,
    minimum_population: Annotated[
        float, typer.Option(help="Refuse groups of fewer people, by the sum of their weights.")
    ] = 10.0,
    tolerance: Annotated[
        float | None, typer.Option(help="Give a verdict by the metric's rule at this tolerance.")
    ] = None,
    price: PriceOnly = False,
    yes: Yes = False,
    mandate: MandateId = None,
    report: ReportFile = None,
    receipt: ReceiptFile = None,
    idempotency_key: Key = None,
    new: New = False,
    quiet: Quiet = False,
    profile: ProfileName = DEFAULT_PROFILE,
    as_json: AsJson = False,
) -> None:
    """Compute a metric for groups that stay hidden from the platform, from values that stay hidden
    from you.
    """
    public_bytes(regulator_key)  # refused before anybody is uploaded
    asked = _metric(metric)
    columns = words(groups)
    if rows is not None and not hidden:
        raise InputError("--rows requires --hidden: an upload has one row per person.")
    if columns is None:
        raise InputError(
            "--groups names no column. Give one column of labels, or several columns "
            "separated by commas."
        )
    by = columns if len(columns) > 1 else columns[0]
    uploading = _Uploading(people, id_column, by, hidden, rows, resume)
    wanted = {
        "kind": KIND.name,
        **uploading.named(),
        "metric": asked.model_dump(mode="json"),
        "epsilon": str(to_decimal(epsilon)),
        "mandate": mandate,
    }
    if price:
        with Auditor.from_profile(profile) as auditor:
            offer = _priced(auditor, asked, uploading, epsilon, mandate, progress=not quiet)
        show_offer(offer, as_json=as_json)
        return
    with charging(profile) as auditor:
        with auditor.pending.claimed(wanted, key=idempotency_key, new=new) as claim:
            known = replace(uploading, resume=resume or claim.record.audience_id)
            weighted = known.upload(
                auditor.audiences,
                lambda audience_id: _remember(claim, audience_id),
                progress=not quiet,
            )
            request = auditor.audits.requests.two_party(
                asked, weighted, epsilon=epsilon, mandate_id=mandate
            )
            if not (yes or claim.record.sent):
                ask_on_terminal(lambda: auditor.audits.offer_of(request))
            found = auditor.audits.two_party(
                asked,
                weighted,
                regulator_key=regulator_key,
                epsilon=epsilon,
                mandate_id=mandate,
                minimum_population=minimum_population,
                claim=claim,
                progress=not quiet,
            )
        if receipt:
            found.save_receipt(receipt)
        if report:
            found.report(report)
        more = _left_of_differences(weighted)
        show_result(found, tolerance, as_json=as_json, more=more)


def _remember(claim: Claim, audience_id: str) -> None:
    claim.save(audience_id=audience_id)


def _priced(
    auditor: Auditor,
    metric: SoftMetric,
    uploading: "_Uploading",
    epsilon: str,
    mandate: str | None,
    *,
    progress: bool,
) -> Offer:
    """Upload or declare the people, and price their audit; this spends nothing."""
    people = uploading.upload(auditor.audiences, lambda _: None, progress=progress)
    request = auditor.audits.requests.two_party(metric, people, epsilon=epsilon, mandate_id=mandate)
    return auditor.audits.offer_of(request)


def open_run(
    audit_id: AuditId, profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False
) -> None:
    """Open a two-party run: decrypt it, check every weight, and state the result."""
    with Regulator.from_profile(profile) as regulator:
        found = regulator.open_run(audit_id)
    row = {
        "audit": audit_id,
        "honest": found.honest,
        "findings": [f"{finding.code}: {finding.says}" for finding in found.findings],
    }
    show_row(row, as_json=as_json)
    if not found.honest:
        raise typer.Exit(1)


def waiting_runs(profile: ProfileName = DEFAULT_PROFILE, as_json: AsJson = False) -> None:
    """List two-party runs that were answered but not delivered. Some of them wait for you to open
    them.
    """
    with Regulator.from_profile(profile) as regulator:
        rows = [run.model_dump(exclude={"terms"}) for run in regulator.waiting_runs()]
    columns = ["audit_id", "auditor_id", "awaited", "answered_at"]
    show_rows(rows, columns, as_json=as_json)


@dataclass(frozen=True)
class _Uploading:
    """The people that the command uploads or declares, with its options."""

    file: Path
    id_column: str
    by: str | list[str]
    hidden: bool
    rows: int | None
    resume: str | None

    def named(self) -> dict[str, Any]:
        """Return the inputs that identify the same people, whichever audience they become."""
        return {
            "people": sha256(self.file.read_bytes()).hexdigest(),
            "id": self.id_column,
            "groups": self.by,
            "hidden": self.hidden,
            "rows": self.rows,
            "audience": self.resume,
        }

    def upload(
        self, audiences: Audiences, begun: Callable[[str], None], *, progress: bool
    ) -> WeightedAudience:
        """Upload or declare the people, or find those of the interrupted command."""
        labels = [self.by] if isinstance(self.by, str) else []
        table = read_table(self.file, [self.id_column, *labels], None)
        if self.hidden:
            declared = audiences.hide(
                table, self.id_column, self.by, rows=self.rows, resume=self.resume
            )
            begun(declared.id)
            return declared

        return audiences.upload_weighted(
            table, self.id_column, self.by, resume=self.resume, begun=begun, progress=progress
        )


def _metric(path: Path) -> SoftMetric:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found: SoftMetric = TypeAdapter[SoftMetric](SoftMetric).validate_python(content)
    except ValidationError as error:
        wrong = "; ".join(complaints(error))
        raise InputError(
            f"{path} does not define a metric of a two-party audit: {wrong}. Nothing was "
            "sent. See docs/explanation/two-party-metrics.md."
        ) from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    return found


def _left_of_differences(people: WeightedAudience) -> dict[str, list[str]]:
    """Return the share of each group's difference from the rest that soft labels preserve."""
    from auditor_client.demographics import Probabilities
    from auditor_client.two_party import share_left

    vectors = Probabilities(people.weights.shares, people.groups)
    mixed = [name for name in people.groups if 0 < vectors[name].mean() < 1]
    left = {name: share_left(vectors, name) for name in mixed}
    if all(share > 0.999 for share in left.values()):
        return {}
    return {"left of a difference": [f"{name} {share:.0%}" for name, share in left.items()]}
