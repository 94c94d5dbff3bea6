"""Answer of an outcome test: whether equally scored people have equal outcomes."""

from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.outcome.outcome_test import Tested
from auditor_client.reporting.rounding import lower, number, upper


def summarise(audit: OutcomeTestResult, judged: Judgement) -> Summary:
    """Return the verdict of the test at the judgement's tolerance."""
    tested = audit.test(delta=judged.delta)
    headline, *words = tested.words(judged.alpha)
    return Summary(
        headline,
        tested.verdict(judged.alpha),
        details=(
            *words,
            f"Each number of rows alone is within ±{upper(audit.error_95, 1)} (95 % confidence).",
        ),
        table=_table(tested),
        assumptions=(
            "The logged outcome is the one that the score is meant to predict.",
            (
                "The rows of each group are a representative sample of the population of the "
                "verdict."
            ),
        ),
    )


def _table(tested: Tested) -> PresentedTable:
    rows = tuple(
        (
            f"{row['low_score']:.3g} to {row['high_score']:.3g}",
            row["group"],
            row["relative_to"],
            number(row["estimate"]),
            lower(row["low"]),
            upper(row["high"]),
        )
        for row in tested.table().to_pylist()
    )
    heads = ("Scores", "Group", "Relative to", "Difference", "Low", "High")
    return PresentedTable(
        "Differences of outcomes at equal scores; limits hold for each alone.", heads, rows
    )
