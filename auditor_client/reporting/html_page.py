"""Pages of a report: one HTML file that needs no network and runs no script.

All text that an outsider may have written passes `escape`.
"""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from auditor_client.charts import chart as charts
from auditor_client.charts.chart import Chart

# The policy forbids loading and running anything, whatever text the file contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, parts: Iterable[str]) -> str:
    """Return the whole file with these parts."""
    style = files("auditor_client.reporting").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def figure(chart: Chart, caption: str) -> str:
    words = escape(str(chart.description), quote=True)
    return (
        f'<figure><div role="img" aria-label="{words}">{charts.svg(chart)}</div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, figures: bool = False
) -> str:
    """Return a table with a heading per row, whose numbers are not broken across lines."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    first = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    body = "".join(_row(row) for row in rows)
    kind = ' class="figures"' if figures else ""
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table{kind}>{named}{first}<tbody>{body}</tbody></table>"


def _row(cells: Sequence[str]) -> str:
    first, *rest = (escape(cell) for cell in cells)
    others = "".join(f"<td>{cell}</td>" for cell in rest)
    return f'<tr><th scope="row">{first}</th>{others}</tr>'


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def article(*parts: str) -> str:
    """Return one of several audits on a page."""
    return f"<article>{''.join(parts)}</article>"


def paragraphs(lines: Iterable[str]) -> list[str]:
    return [f"<p>{escape(line)}</p>" for line in lines]


def bullets(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
