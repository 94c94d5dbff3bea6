"""Picture of the life of an audit, from the table of its states."""

from api.audits.states import FINAL, FIRST, TRANSITIONS
from docs.site.pictures.drawing import Drawing
from openapi.resources import AuditState

_WIDTH, _HEIGHT = 140, 56
# Left upper corner of each state's box.
_PLACES: dict[AuditState, tuple[int, int]] = {
    "charged": (20, 100),
    "running": (340, 100),
    "released": (690, 100),
    "failed": (690, 215),
    "cancelled": (690, 330),
}
# The way of each arrow, and where its words begin: x, y and characters a line.
_WAYS: dict[
    tuple[AuditState, AuditState], tuple[list[tuple[float, float]], tuple[int, int, int]]
] = {
    ("charged", "running"): ([(160, 128), (340, 128)], (170, 80, 26)),
    ("running", "running"): ([(380, 100), (380, 62), (440, 62), (440, 100)], (340, 32, 34)),
    ("running", "released"): ([(480, 128), (690, 128)], (510, 118, 28)),
    ("running", "failed"): ([(410, 156), (410, 231), (690, 231)], (424, 194, 40)),
    ("charged", "failed"): ([(120, 156), (120, 255), (690, 255)], (134, 275, 80)),
    ("charged", "cancelled"): ([(60, 156), (60, 358), (690, 358)], (74, 350, 84)),
}


def draw() -> str:
    """Return the picture."""
    drawing = Drawing(850, 410, "The life of an audit: its states, and what changes them")
    for way, cause in TRANSITIONS.items():
        points, (x, y, columns) = _WAYS[way]
        drawing.arrow(points)
        drawing.paragraph(x, y, cause, columns)
    drawing.text(20, 92, "the charge commits")
    for state, (x, y) in _PLACES.items():
        drawing.box(x, y, _WIDTH, _HEIGHT, "final" if state in FINAL else "box")
        drawing.text(x + _WIDTH / 2, y + 34, state, "strong large", "middle")
    drawing.text(
        20, 400, f"An audit begins as {FIRST}. A thick border: the state is final.", "small"
    )
    return drawing.svg()
