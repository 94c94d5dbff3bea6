"""Calculations of the planner, by the SDK's own planning.

Importing this module imports SciPy, which takes seconds and much memory. Only the processes of
`api.console.planner.process` do so.
"""

from api.console.planner.questions import POWER, Needed, Question
from auditor_client.planning.charts import power_curve
from auditor_client.planning.sample_size import sample_size, verdict_size

# Points of the curve, as shares of the people that a verdict needs.
_SHARES, _SHARES_OF_MANY_CELLS = (0.25, 0.5, 0.75, 1.0, 1.4), (0.4, 1.0, 1.4)
_MANY_CELLS = 500


def compute_people_needed(question: Question) -> Needed:
    """Return the people per group: by the theorem, by exact tails, and for a likely verdict."""
    alpha, delta, epsilon = question.alpha, question.delta, question.epsilon
    cells = question.groups, question.bins
    known = (alpha, delta, *cells, epsilon)
    return Needed(
        # [IKH23, Appendix A]: the noise must be smaller than the gap looked for.
        theorem=sample_size(*known, "theorem-1") if epsilon > alpha / 2 else None,
        exact=sample_size(*known, "exact"),
        verdict=verdict_size(*known, sizes="noisy", power=POWER) if question.bins > 1 else None,
    )


def draw_power_curve(question: Question, verdict: int) -> str:
    """Return the power curve around `verdict` people per group, as a Vega-Lite specification."""
    many = question.groups * question.bins > _MANY_CELLS
    shares = _SHARES_OF_MANY_CELLS if many else _SHARES
    people = sorted({max(2, round(verdict * share)) for share in shares})
    chart = power_curve(people, **question.model_dump(), sizes="noisy", power=POWER)
    text: str = chart.to_json(indent=None)
    return text
