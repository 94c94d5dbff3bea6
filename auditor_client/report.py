"""The report: one HTML file for a journalist and a statistician. No network, no script.

Whatever an outsider may have written (titles, names of groups) passes `escape`.
"""

from collections.abc import Sequence
from html import escape

from auditor_client import charts, wording
from auditor_client.finished import FinishedAudit
from auditor_client.gap import FairnessGap
from auditor_client.measured import Share, group_sizes, measured_shares
from auditor_client.pages import bullets, figure, page, paragraphs, section, table
from privacy.receipts import ALGORITHM


def render(audit: FinishedAudit, *, alpha: float, delta: float) -> str:
    """The whole page."""
    gap = audit.fairness_gap(delta=delta)
    found = measured_shares(audit)
    question = wording.question(audit)
    parts = [
        f"<h1>{escape(question)}</h1>",
        _verdict(audit, gap, alpha),
        section("What was measured", *_pictures(audit, found, alpha), _people(audit)),
        section("Promise of privacy", *paragraphs(wording.privacy(audit)), _cost(audit)),
        section("What this rests on", bullets(wording.assumptions(audit))),
        section("Check it yourself", _check(audit, alpha, delta), _numbers(audit)),
    ]
    return page(question, parts)


def _verdict(audit: FinishedAudit, gap: FairnessGap, alpha: float) -> str:
    return (
        f'<div class="verdict {gap.verdict(alpha)}">'
        f"<p><strong>{escape(wording.headline(gap, alpha))}</strong></p>"
        f"<p>{escape(wording.explanation(gap, alpha))}</p>"
        f"<p>{escape(wording.driver(audit, gap))}</p></div>"
        + figure(charts.verdict_chart(gap, alpha), "The interval, and the gap that is tolerated.")
        + f"<p>{escape(wording.definition())}</p>"
    )


def _pictures(audit: FinishedAudit, found: Sequence[Share], alpha: float) -> list[str]:
    shares = charts.share_chart(audit, found)
    gaps = charts.gap_chart(audit, found, alpha)
    return [
        figure(
            shares,
            "Shares per bin of scores, with limits that hold for each share alone with 95 %."
            " Noise may take a share below zero.",
        ),
        figure(gaps, "The measured gap of each bin, noise included; the verdict allows for it."),
    ]


def _people(audit: FinishedAudit) -> str:
    kinds = {"known": "exact", "noisy": "noisy number", "estimated": "estimated from the bins"}
    rows = [
        (name, f"{size.estimate:.0f}", kinds[size.kind])
        for name, size in group_sizes(audit).items()
    ]
    return table("People scored", ("group", "people", "how it is known"), rows)


def _cost(audit: FinishedAudit) -> str:
    price = audit.release.price
    words = f"The audit cost {price.debit} ({price.currency}) of the auditor’s budget."
    mandate = audit.mandate
    if mandate:
        words += (
            f" Of the mandate “{mandate.purpose}”, {mandate.spent} were spent since it began and"
            f" {mandate.remaining} remained to be spent when this was fetched."
        )
    return f"<p>{escape(words)}</p>"


def _check(audit: FinishedAudit, alpha: float, delta: float) -> str:
    release = audit.release
    facts = [
        ("audit", release.audit_id),
        ("released", f"{release.released_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("service", audit.url or "unknown"),
        ("content", release.content_digests[0]),
        ("audience (commitment)", release.audience_commitment),
        ("model", release.model_digest or "not stated"),
        ("signing keys", ", ".join(str(key.get("kid")) for key in audit.keys["keys"])),
        ("α and δ", f"{alpha:g} and {delta:g}"),
    ]
    return (
        table("What the platform signed", ("", ""), facts)
        + "<p>The receipt below is the platform’s signed statement of everything above (a compact"
        f" JWS, {ALGORITHM}, over canonical JSON). To verify it and to compute this report again,"
        " offline:</p>"
        f"<pre>pip install platform-auditor\nauditor report receipt.json --alpha {alpha:g}"
        f" --delta {delta:g}</pre>"
        "<p>with the receipt file that <code>save_receipt</code> wrote. To be sure that the keys"
        " are the platform’s, compare them with those it publishes at its"
        " <code>jwks_uri</code>.</p>"
        f"<details><summary>Receipt</summary><pre>{escape(audit.receipt)}</pre></details>"
    )


def _numbers(audit: FinishedAudit) -> str:
    names = list(audit.counts)
    columns = zip(audit.bin_names(), *audit.counts.values(), strict=True)
    rows = [tuple(str(cell) for cell in row) for row in columns]
    counts = table("Noisy counts", ("scores", *names), rows)
    return f"<details><summary>All noisy counts</summary>{counts}</details>"
