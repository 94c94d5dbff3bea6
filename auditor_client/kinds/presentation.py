"""Parts of every kind's answer: a sentence, a table, figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from auditor_client.charts.chart import Chart  # Altair takes a second to import

Verdict = Literal["fair", "unfair", "inconclusive"]


@dataclass(frozen=True)
class Tolerance:
    """Number with which a kind's verdicts compare: its default value, and its label.

    `of_study`: the `alpha` of a study file sets it.
    """

    usual: float
    label: str
    of_study: bool = False


@dataclass(frozen=True)
class Judgement:
    """Tolerance and error probability for the verdict on an audit."""

    alpha: float = 0.2
    delta: float = 0.05


@dataclass(frozen=True)
class PresentedTable:
    """Table of text cells that fits 80 columns; the first cell names its row."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class PresentedChart:
    """Chart with its caption."""

    chart: "Chart"
    caption: str


@dataclass(frozen=True)
class Summary:
    """Answer of an audit in words.

    `sentence` begins with the verdict, or states the main finding of a kind without verdicts.
    `details` are whole sentences, and `assumptions` are those of the answer. `numbers` are those of
    the sentence, for JSON. `question` is the heading of a report (default: the kind's title).
    """

    sentence: str
    verdict: Verdict | None = None
    details: tuple[str, ...] = ()
    table: PresentedTable | None = None
    assumptions: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
