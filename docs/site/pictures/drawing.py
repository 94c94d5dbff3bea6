"""Drawings of boxes, arrows and words as SVG, for light and dark pages."""

import textwrap
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1d2329; }
.strong { font-weight: 600; } .small { font-size: 12px; } .large { font-size: 15px; }
.paper { fill: #ffffff; } .box { fill: #eef3f8; stroke: #0072b2; stroke-width: 1.5; }
.final { fill: #ffffff; stroke: #0072b2; stroke-width: 3; } .band { fill: #f3f5f7; }
.line { fill: none; stroke: #5a646e; stroke-width: 1.5; } .tip { fill: #5a646e; }
.alpha { stroke: #d55e00; stroke-width: 2; stroke-dasharray: 6 4; }
.within { fill: #009e73; fill-opacity: .12; } .interval { stroke: #0072b2; stroke-width: 7; }
.yes { fill: #0072b2; } .some { fill: #0072b2; fill-opacity: .35; } .no { fill: none; }
.mark { stroke: #0072b2; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
text { fill: #e6eaee; } .paper { fill: #14181d; } .box { fill: #1c2a36; stroke: #56b4e9; }
.final { fill: #14181d; stroke: #56b4e9; } .band { fill: #1b2026; }
.line { stroke: #a3adb8; } .tip { fill: #a3adb8; } .alpha { stroke: #ff8a3d; }
.within { fill: #2fc79a; } .interval { stroke: #56b4e9; }
.yes, .some { fill: #56b4e9; } .mark { stroke: #56b4e9; }
}
"""
LINE = 16


@dataclass
class Drawing:
    """An SVG picture under construction, with words for those who cannot see it."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        """Write one line of words."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" class="{style}" text-anchor="{anchor}">{escape(words)}'
            "</text>"
        )

    def paragraph(self, x: float, y: float, words: str, columns: int, anchor: str = "start") -> int:
        """Write words in lines of at most `columns` characters; return the number of lines."""
        lines = textwrap.wrap(words, columns)
        for number, line in enumerate(lines):
            self.text(x, y + number * LINE, line, "small", anchor)
        return len(lines)

    def box(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """Draw a rectangle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"'
            f' class="{style}"/>'
        )

    def line(self, points: list[tuple[float, float]], style: str = "line") -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{style}"/>')

    def arrow(self, points: list[tuple[float, float]]) -> None:
        """Draw a line that ends in an arrow head."""
        self.line(points)
        (x0, y0), (x, y) = points[-2:]
        if x != x0:
            back = 8 if x > x0 else -8
            head = f"{x:g},{y:g} {x - back:g},{y - 5:g} {x - back:g},{y + 5:g}"
        else:
            back = 8 if y > y0 else -8
            head = f"{x:g},{y:g} {x - 5:g},{y - back:g} {x + 5:g},{y - back:g}"
        self.parts.append(f'<polygon points="{head}" class="tip"/>')

    def dot(self, x: float, y: float, style: str) -> None:
        """Draw a mark."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="6" class="mark {style}"/>')

    def svg(self) -> str:
        """Return the picture."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
            f' viewBox="0 0 {self.width} {self.height}" role="img">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style>"
            f'<rect width="{self.width}" height="{self.height}" class="paper"/>'
            + "\n".join(self.parts)
            + "</svg>\n"
        )
