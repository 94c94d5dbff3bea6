"""`python -m replications.paper_1.figures [--write]`: numbers of paper 1, §5, compared with ours.

The module prints the tables of docs/replications/paper-1.md; with `--write` it rewrites that page
and its figure.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.2, Figure 3 and Appendix B.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from auditor_client.charts.chart import svg
from auditor_client.planning.power_simulation import SizeKind, discrete_laplace
from auditor_client.planning.sample_size import sample_size, verdict_size
from replications.paper_1.figure_3 import (
    EXACT,
    EXACT_BARE,
    LEMMA,
    RANGES,
    THEOREM,
    Row,
    figure_3,
    figure_3_rows,
)

DOCS = Path(__file__).parents[2] / "docs"
PAGE, FIGURE = DOCS / "replications/paper-1.md", DOCS / "replications/paper-1-figure-3.svg"
ALPHA, DELTA, GROUPS, BINS, EPSILON = 0.2, 0.05, 2, 100, 1.0
RUNS = 4_000
KINDS: tuple[SizeKind, ...] = ("known", "noisy")
_START, _END = "<!-- numbers -->", "<!-- end of numbers -->"


def example(kinds: Sequence[SizeKind] = KINDS) -> Iterator[str]:
    """Yield the table of the paper's own example."""
    question = (ALPHA, DELTA, GROUPS, BINS, EPSILON)
    private = sample_size(*question, "theorem-1")
    bare = sample_size(*question, "lemma-5.1")
    yield "| people per group | printed | computed |"
    yield "|---|---|---|"
    yield f"| Theorem 1, with privacy | 1,879 | {private:,} |"
    yield f"| Lemma 5.1, without | 450 | {bare} |"
    yield f"| increase, of the example | 4.17× | {math.floor(100 * private / bare) / 100:.2f}× |"
    bound = 4 * math.log(3) / math.log(2)
    yield f"| increase, at most (Lemma 5.3) | 6.34× | {bound:.5f}× |"
    for sizes in kinds:
        exact = sample_size(*question, "exact", sizes=sizes)
        part = f"1/{private / exact:.0f} of Theorem 1"
        yield f"| the same promise, exact tails, sizes {sizes} | | {exact} ({part}) |"
    exact = sample_size(ALPHA, DELTA, GROUPS, BINS, None, "exact")
    yield f"| the same without privacy, exact tails | | {exact} |"
    for sizes in kinds:
        people = verdict_size(ALPHA, DELTA, GROUPS, BINS, EPSILON, sizes=sizes, criterion="bins")
        yield f"| for a verdict with power .8, sizes {sizes} | | {people} |"


def efg_of_a_fair_platform() -> Iterator[str]:
    """Simulate E[EFG] at FG = 0; its standard error is below .0005."""
    yield "| people per group | scores in | E[EFG], ε = 1 | without noise | P(EFG > α), ε = 1 |"
    yield "|---|---|---|---|---|"
    for people in (75, 450, 1879):
        for filled in (3, 10, 100):
            noisy, bare = _efg(people, filled, EPSILON), _efg(people, filled, math.inf)
            above = (noisy > ALPHA).mean()
            yield (
                f"| {people:,} | {filled} bins | {noisy.mean():.3f} | {bare.mean():.3f} |"
                f" {above:.3f} |"
            )


def _efg(people: int, filled: int, rate: float) -> np.ndarray:
    generator = np.random.default_rng((people, filled))
    shares = np.repeat([1 / filled, 0.0], [filled, BINS - filled])
    counts = [
        generator.multinomial(people, shares, RUNS)
        + discrete_laplace(generator, rate, RUNS * BINS).reshape(RUNS, BINS)
        for _ in range(GROUPS)
    ]
    return np.asarray(np.abs(counts[0] - counts[1]).max(axis=1) / people)


def figure_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of the values in Figure 3."""
    yield f"| | | {THEOREM} | {LEMMA} | increase | {EXACT} | {EXACT_BARE} | increase |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        printed, ours = row[THEOREM] / row[LEMMA], row[EXACT] / row[EXACT_BARE]
        yield (
            f"| {row['parameter']} | {row['value']:g} | {row[THEOREM]:,} | {row[LEMMA]:,} |"
            f" {printed:.2f}× | {row[EXACT]:,} | {row[EXACT_BARE]:,} | {ours:.2f}× |"
        )


def numbers(rows: Sequence[Row]) -> str:
    """Return all tables, in the form of the page."""
    parts = [
        "### The example\n",
        *example(),
        "\n### The empirical gap of a fair platform\n",
        *efg_of_a_fair_platform(),
        f"\n### Figure 3\n\n![Figure 3, the paper's and ours]({FIGURE.name})\n",
        *figure_table(rows),
    ]
    return "\n".join(parts)


def main() -> None:
    rows = figure_3_rows(EPSILON)
    found = numbers(rows)
    print(found)
    assert len(rows) == sum(len(values) for values in RANGES.values())
    if "--write" in sys.argv[1:]:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(_START)
        after = rest.partition(_END)[2]
        PAGE.write_text(f"{before}{_START}\n{found}\n{_END}{after}", encoding="utf-8")
        FIGURE.write_text(svg(figure_3(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
