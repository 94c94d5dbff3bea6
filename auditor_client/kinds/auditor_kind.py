"""Auditor half of a kind of audit: reading, judgement, display and forecast of its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from auditor_client.kinds.asking.hooks import AskingHalf
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.kinds.presentation import Judgement, PresentedChart, Summary, Tolerance
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.stated_errors import PartUnit, StatedError
from openapi.kinds.contract import KindContract
from openapi.resources import Catalogue, Price

if TYPE_CHECKING:
    from auditor_client.reporting.results_document import AuditFound

Forecaster = Callable[[Any, ForecastAudience, Catalogue], Forecast]
Summariser = Callable[[Any, Judgement], Summary]
Illustrator = Callable[[Any, Judgement], tuple[PresentedChart, ...]]
Analyst = Callable[[Any, Judgement], Mapping[str, Any]]
Measurer = Callable[[Any, str], PartUnit]
Narrator = Callable[[Any, "AuditFound"], list[str]]


@dataclass(frozen=True)
class OnFirstUse:
    """Function of a module that is imported on the first call: statistics take seconds."""

    module: str
    name: str

    def __call__(self, *values: Any) -> Any:
        """Import the function and call it."""
        return self._function(*values)

    @cached_property
    def _function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function


@dataclass(frozen=True)
class AuditorKind:
    """A kind of audit, as auditors use it.

    `forecaster` forecasts a request's accuracy before the payment. `summariser` returns the
    sentence, details and table of a result, `illustrator` its charts. `run`, `show`, `analyse`,
    `report`, notebooks and the console all show these. `analyst` adds fields to the results
    document (`AuditFound`), and `narrator` adds sections of HTML to the report. `measurer` gives
    the unit of a part of a request (default: single people or rows). `tolerance` is the number with
    which verdicts compare, if the user can choose it. `asking` holds the kind's additions to
    requests made from its contract. A result with fewer than `least_groups` groups has no verdict
    and no charts: its answer is the released numbers. `decrypted_here`: only the process that ran
    an audit can read its numbers. `demonstration` are the fields of a request that suits the demo's
    platform, where they differ from the contract's example.
    """

    contract: KindContract
    result: type[Result[Any]]
    summariser: Summariser
    forecaster: Forecaster | None = None
    illustrator: Illustrator | None = None
    analyst: Analyst | None = None
    narrator: Narrator | None = None
    measurer: Measurer | None = None
    tolerance: Tolerance | None = None
    asking: AskingHalf = field(default_factory=AskingHalf)
    least_groups: int = 1
    decrypted_here: bool = False
    demonstration: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the kind's own name."""
        return self.contract.name

    def judgement(self, alpha: float | None = None, delta: float = 0.05) -> Judgement:
        """Return the tolerance and error probability (default tolerance: that of the kind)."""
        usual = self.tolerance.usual if self.tolerance else 0.0
        return Judgement(usual if alpha is None else alpha, delta)

    def forecast(self, request: Any, audience: ForecastAudience, catalogue: Catalogue) -> Forecast:
        """Return the forecast for these people and this noise. Nothing is sent or paid."""
        if len(audience.people) < self.least_groups:
            return Forecast(
                "This audit compares groups: with one group it releases numbers and no verdict.",
                answers=False,
                enough="Upload at least two groups.",
                at_any_noise=True,
            )
        if self.forecaster is None:
            return Forecast("No forecast exists for this kind: its price states the error.")
        return self.forecaster(request, audience, catalogue)

    def summary(self, result: Any, alpha: float | None = None, delta: float = 0.05) -> Summary:
        """Return the sentence, details and table of a result."""
        return self.answer(result, self.judgement(alpha, delta))

    def answer(self, result: Any, judged: Judgement) -> Summary:
        """Return the sentence, details and table of a result at a judgement."""
        if self.lacks_groups(result):
            return _ANSWER_WITHOUT_VERDICT(result)
        return self.summariser(result, judged)

    def added_fields(self, result: Any, judged: Judgement) -> Mapping[str, Any]:
        """Return the fields that the kind adds to the results document."""
        if self.analyst is None or self.lacks_groups(result):
            return {}
        return self.analyst(result, judged)

    def added_sections(self, result: Any, found: "AuditFound") -> list[str]:
        """Return the sections that the kind adds to the report."""
        if self.narrator is None or self.lacks_groups(result):
            return []
        return self.narrator(result, found)

    def figures(
        self, result: Any, alpha: float | None = None, delta: float = 0.05
    ) -> tuple[PresentedChart, ...]:
        """Return the charts of a result."""
        if self.illustrator is None or self.lacks_groups(result):
            return ()
        return self.illustrator(result, self.judgement(alpha, delta))

    def errors(self, request: Any, price: Price) -> tuple[StatedError, ...]:
        """Return the error of each part of a price, in people, rows or reward."""
        found = []
        for part in price.parts:
            counted = self.contract.counted_in or "people"
            unit = self.measurer(request, part.name) if self.measurer else PartUnit(counted)
            found.append(StatedError(part.name, part.error_95 / unit.units, unit.counted))
        return tuple(found)

    def lacks_groups(self, result: Any) -> bool:
        """Return whether a result has too few groups for a verdict."""
        groups = getattr(result.release, "groups", None)
        return groups is not None and len(groups) < self.least_groups


_ANSWER_WITHOUT_VERDICT: Callable[[Any], Summary] = OnFirstUse(
    "auditor_client.kinds.too_few_groups", "summarise"
)
