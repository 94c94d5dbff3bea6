"""Verification section of a report: the signed statement, commands, the proof, the numbers.

All text that an outsider may have written passes `escape`.
"""

import shlex
from html import escape
from typing import Any

from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.html_page import table
from auditor_client.reporting.results_document import AuditFound
from openapi.resources import InclusionProof
from privacy.receipts import ALGORITHM

RECEIPT = "receipt.json"


def signed(audit: Result[Any], found: AuditFound) -> str:
    release = audit.release
    facts = [
        ("audit", release.audit_id),
        ("released", f"{release.released_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("service", audit.url or "unknown"),
        *(("content", digest) for digest in release.content_digests),
        ("audience (commitment)", release.audience_commitment),
        ("model", release.model_digest or "not stated"),
        ("signing keys", ", ".join(str(key.get("kid")) for key in audit.keys["keys"])),
        ("α and δ", f"{found.alpha:g} and {found.delta:g}"),
    ]
    return table("The platform’s signed statement, and how it was judged", ("", ""), facts)


def reproduce(found: AuditFound, selection: MetricSelection, *, study: bool) -> str:
    file = f"receipts/{found.name}.json" if study else RECEIPT
    options = ["--alpha", repr(found.alpha), "--delta", repr(found.delta), *arguments(selection)]
    verbs = ["analyse"] if study else ["analyse", "report"]
    commands = [shlex.join(["auditor", verb, file, *options]) for verb in verbs]
    lines = "\n".join(["pip install platform-auditor", *commands])
    return (
        "<p>The receipt below is the platform’s signed statement of everything above (a "
        f"compact JWS, {ALGORITHM}, over canonical JSON). To verify it and to compute all "
        "results again, offline, from the receipt alone, "
        f"run</p><pre>{escape(lines)}</pre><p>with the receipt file that "
        "<code>save_receipt</code> wrote. To be sure that the keys are the platform’s, "
        "compare them with those it publishes at its <code>jwks_uri</code>.</p>"
    )


def arguments(selection: MetricSelection) -> list[str]:
    """Return the command-line options that make the same selection."""
    words = [word for name in selection.only for word in ("--metric", name)]
    words += [word for at in selection.thresholds for word in ("--threshold", repr(at))]
    if selection.quantiles != MetricSelection().quantiles:
        words += [word for at in selection.quantiles for word in ("--quantile", repr(at))]
    if selection.qualified is not None:
        words += ["--qualified", selection.qualified]
    return words


def ledger(proof: InclusionProof | None) -> str:
    if proof is None:
        return (
            "<p>The receipt file that <code>save_receipt</code> writes also holds the proof that"
            " the release is in the platform’s ledger; <code>auditor receipt verify</code> checks"
            " it.</p>"
        )
    words = (
        f"The release is entry {proof.number} of the platform’s ledger. The proof leads "
        "from the entry to a checkpoint that the platform signed, so the platform cannot "
        "remove the release unnoticed. The command auditor receipt verify checks the "
        "proof against keys that you trust."
    )
    steps = "\n".join([proof.entry, "", *proof.path, "", proof.checkpoint])
    return (
        f"<p>{escape(words)}</p><details><summary>Entry, path and "
        f"checkpoint</summary><pre>{escape(steps)}</pre></details>"
    )


def receipt(audit: Result[Any]) -> str:
    return f"<details><summary>Receipt</summary><pre>{escape(audit.receipt)}</pre></details>"


def counts(audit: ScoreHistogramResult) -> str:
    names = list(audit.counts)
    columns = zip(audit.bin_names(), *audit.counts.values(), strict=True)
    rows = [tuple(str(cell) for cell in row) for row in columns]
    shown = table("Noisy counts", ("scores", *names), rows)
    return f"<details><summary>All noisy counts</summary>{shown}</details>"
