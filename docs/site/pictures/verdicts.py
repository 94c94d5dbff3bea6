"""Picture of the three verdicts: the limits of a gap compared with the tolerated gap.

The verdict of each row is the one that `FairnessGap.verdict` gives for its limits.
"""

from auditor_client.fairness.gap import FairnessGap, Verdict
from docs.site.pictures.drawing import Drawing

ALPHA = 0.2
# Lower and upper limit of each row.
LIMITS = ((0.04, 0.15), (0.26, 0.41), (0.12, 0.31))
_READING: dict[Verdict, str] = {
    "fair": "The whole interval is within alpha.",
    "unfair": "The whole interval is beyond alpha.",
    "inconclusive": "Alpha is inside the interval: neither is shown.",
}
_LEFT, _TOP, _ROW, _WIDTH = 290, 60, 70, 520
_MOST = 0.5


def gap_between(low: float, high: float) -> FairnessGap:
    """Return a gap of single bins that has these limits."""
    middle = (low + high) / 2
    return FairnessGap(middle, low, high, ("g0", "g1"), 0, 0.05, at_least=low, at_most=high)


def draw() -> str:
    """Return the picture."""
    height = _TOP + _ROW * len(LIMITS) + 60
    drawing = Drawing(850, height, "How a verdict is read: the interval of the gap against alpha")
    bottom = _TOP + _ROW * len(LIMITS)
    drawing.box(_at(0), _TOP - 10, _at(ALPHA) - _at(0), bottom - _TOP + 10, "within")
    for row, (low, high) in enumerate(LIMITS):
        verdict = gap_between(low, high).verdict(ALPHA)
        y = _TOP + _ROW * row + 30
        drawing.text(20, y - 4, verdict, "strong large")
        drawing.paragraph(20, y + 14, _READING[verdict], 36)
        drawing.line([(_at(low), y), (_at(high), y)], "interval")
        drawing.text(_at(low) - 8, y + 4, f"{low:g}", "small", "end")
        drawing.text(_at(high) + 8, y + 4, f"{high:g}", "small")
    drawing.line([(_at(ALPHA), _TOP - 20), (_at(ALPHA), bottom)], "alpha")
    drawing.text(_at(ALPHA) + 8, _TOP - 26, f"tolerated gap: alpha = {ALPHA:g}", "strong")
    drawing.line([(_at(0), bottom), (_at(_MOST), bottom)])
    for tick in range(6):
        drawing.text(_at(tick / 10), bottom + 18, f"{tick / 10:g}", "small", "middle")
    words = "fairness gap; each interval holds with confidence 95 %"
    drawing.text(_at(_MOST / 2), bottom + 42, words, "", "middle")
    return drawing.svg()


def _at(gap: float) -> float:
    return _LEFT + gap / _MOST * _WIDTH
