"""Answer of an envy-freeness audit: the certificate, or the evidence against it."""

from auditor_client.envy import EnvyCertificate
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary, Verdict
from auditor_client.reporting.rounding import error, number, percent

# From this reward on, decimals say nothing.
_MANY = 1_000

# Verdicts of this kind's certificate, in the terms of other kinds.
VERDICTS: dict[str, Verdict] = {
    "envy-free": "fair",
    "not-envy-free": "unfair",
    "inconclusive": "inconclusive",
}


def summarise(audit: EnvyFreenessResult, _: Judgement) -> Summary:
    """Return the certificate; its error probability is the release's own delta."""
    found, made = audit.certificate(), audit.release
    said = found.statements()
    # The verdict that somebody envies has its own statement, after the claim.
    main = said.pop(1 if found.verdict == "not-envy-free" else 0)
    return Summary(
        f"{VERDICTS[found.verdict].capitalize()}: {main[0].lower()}{main[1:]}",
        VERDICTS[found.verdict],
        details=(
            *said,
            f"At most {made.targets:,} people were audited, each with {made.arms} others."
            f" {_taking_part(made.arms_per_person)}",
            _kept(audit),
        ),
        table=PresentedTable(
            "Counts and averages, with noise; each error holds alone with 95 % confidence.",
            ("Measured", "Number", "Error"),
            tuple(_measured(audit, found)),
        ),
        assumptions=RESTS_ON,
        question="Do people prefer their own recommendations to other people’s?",
    )


RESTS_ON = (
    "The claim is about the people of the audience whom the platform found and who agreed to take"
    " part.",
    (
        "Rewards, as the platform measures them, show people’s preferences; they lie between "
        "0 and 1."
    ),
    "Preferences and recommendations did not change during the audit.",
    "The platform drew people at random and showed them the recommendations that it "
    "states; its signature confirms this.",
)


def _measured(audit: EnvyFreenessResult, found: EnvyCertificate) -> list[tuple[str, ...]]:
    made, off = audit.release, error(audit.error_95)
    rows: list[tuple[str, ...]] = [
        ("people audited, at most", f"{made.targets:,}", ""),
        ("certified without envy", f"{made.no_envy:,}", off),
        ("in envy", f"{made.envious:,}", off),
        ("a certificate needs uncertified at most", f"{found.rule.certify_up_to:,}", ""),
        ("envy is shown from", f"{found.rule.envy_from:,}", ""),
        ("steps of each person, at most", f"{made.steps:,}", ""),
    ]
    if audit.steps_per_target is not None:
        of_steps = audit.part("duration").error_95 / made.targets
        rows.append(
            ("steps of each person, on average", number(audit.steps_per_target, 0), error(of_steps))
        )
    if audit.cost_per_target is not None:
        of_cost = audit.part("cost").error_95 / made.unit / made.targets
        rows.append(
            (
                "reward lost by each person, on average",
                number(audit.cost_per_target, 1 if abs(audit.cost_per_target) < _MANY else 0),
                error(of_cost),
            )
        )
    return rows


def _kept(audit: EnvyFreenessResult) -> str:
    made = audit.release
    kept, sure = 1 - float(made.alpha), 1 - made.targets * made.level
    return (
        f"With probability {percent(sure, 1)} everybody kept, at every step, at least"
        f" {percent(kept)} of the reward that their own recommendations would have brought. All"
        f" people together then lost at most {audit.loss_at_most:,f}, which the mandate was"
        " debited."
    )


def _taking_part(times: int | None) -> str:
    """Return a sentence about the people whom the noise covers; earlier versions cover nobody as an
    arm.
    """
    if times is None:
        return "The noise does not cover people whose recommendations were shown to others."
    return f"Nobody took part in more than {times} of these audits, and the noise covers everybody."
