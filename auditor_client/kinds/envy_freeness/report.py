"""The report of an audit of envy: one HTML file, the certificate first. No network, no script."""

from collections.abc import Iterator
from html import escape

from auditor_client.envy import EnvyCertificate, Verdict
from auditor_client.kinds.building_blocks import verification_section as checks
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.analysis import analyse
from auditor_client.reporting.html_page import bullets, page, paragraphs, section, table

_QUESTION = "Do people prefer their own recommendations to other people’s?"
# The looks that verdicts of other kinds have.
_STYLES: dict[Verdict, str] = {
    "envy-free": "fair",
    "not-envy-free": "unfair",
    "inconclusive": "inconclusive",
}
_RESTS_ON = (
    "What is claimed is about the people of the audience whom the platform found and who agreed to"
    " take part.",
    "Rewards, as the platform measures them, tell what people like; they lie between 0 and 1.",
    "Preferences and recommendations did not change while the audit lasted.",
    "The platform drew people at random and showed them what it says: this is what its signature"
    " stands for.",
)


def render(audit: EnvyFreenessResult) -> str:
    """The page of one audit."""
    certificate = audit.certificate()
    found = analyse(audit, alpha=float(audit.release.alpha), delta=certificate.rule.delta)
    return page(
        _QUESTION,
        [
            f"<h1>{escape(_QUESTION)}</h1>",
            _verdict(certificate),
            section("What was measured", table("", ("", ""), _measured(audit, certificate))),
            section("What people bore", *paragraphs([_borne(audit)])),
            section(
                "Promise of privacy",
                *paragraphs([narrative.both_relations(audit.release.price)]),
                bullets(audit.release.rules),
            ),
            section("What this rests on", bullets(_RESTS_ON)),
            section(
                "Check it yourself",
                checks.signed(audit, found),
                checks.ledger(audit.known_proof()),
                checks.receipt(audit),
            ),
        ],
    )


def _verdict(found: EnvyCertificate) -> str:
    return (
        f'<div class="verdict {_STYLES[found.verdict]}"><p><strong>{found.verdict}</strong></p>'
        f"<p>{escape(found.explain())}</p></div>"
    )


def _measured(audit: EnvyFreenessResult, found: EnvyCertificate) -> Iterator[tuple[str, str]]:
    made, rule = audit.release, found.rule
    yield "people audited, at most", f"{made.targets}, each with {made.arms} others"
    yield "certified without envy", f"{made.no_envy} (±{audit.error_95} with 95 %)"
    yield "in envy", f"{made.envious} (±{audit.error_95} with 95 %)"
    yield "certificate up to so many uncertified", str(rule.certify_up_to)
    yield "envy shown from so many", str(rule.envy_from)
    yield "steps of each, at most", f"{made.steps:,}"
    if audit.steps_per_target is not None:
        error = audit.part("duration").error_95 / made.targets
        yield "steps of each, on average", f"{audit.steps_per_target:,.0f} (±{error:,.0f})"
    if audit.cost_per_target is not None:
        error = audit.part("cost").error_95 / made.unit / made.targets
        yield "reward lost by each, on average", f"{audit.cost_per_target:,.1f} (±{error:,.1f})"


def _borne(audit: EnvyFreenessResult) -> str:
    made = audit.release
    kept, sure = 1 - float(made.alpha), 1 - made.targets * made.level
    return (
        f"With probability {sure:.1%} everybody kept, at every step, at least {kept:.0%} of the"
        " reward that their own recommendations would have brought. All together then lost at most"
        f" {audit.loss_at_most:f}, which the mandate was charged."
    )
