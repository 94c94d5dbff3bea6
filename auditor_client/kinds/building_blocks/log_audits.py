"""Audits of logs: outcome tests, with bins that are given or bought, and running counts."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.kinds.bias_size.result import BiasSizeResult, Corrections
from auditor_client.kinds.building_blocks.log_options import (
    CDF_BINS,
    OUTCOME_BINS,
    LogOptions,
    LogRequests,
    NoisyLogOptions,
)
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.options import Bins
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.local.pending_audits import PendingAudits
from auditor_client.local.progress import tell
from auditor_client.transport.decimals import Number
from openapi.resources import AuditRequest, BatchQuote

Kind = TypeVar("Kind", bound=Result[Any])
_QUANTILE_EPSILON = "0.25"


class RunOptions(TypedDict, total=False):
    """How an audit is paid and waited for, in addition to what it asks."""

    idempotency_key: str | None
    """A key of your own for this audit: repeating it with its key does not pay again."""
    new: bool
    """Start another audit, even if the same request was interrupted (False)."""
    progress: bool
    """Whether to show a progress bar (True)."""


class LogAudits(ABC):
    """What an auditor can ask of logs."""

    _pending: PendingAudits

    @property
    @abstractmethod
    def requests(self) -> LogRequests: ...

    @abstractmethod
    def price_all(self, requests: Sequence[AuditRequest]) -> BatchQuote: ...

    @abstractmethod
    def _run(self, request: AuditRequest, kind: type[Kind], running: RunOptions) -> Kind: ...

    def outcome_test(
        self,
        audience: NamedAudience | str,
        log: str,
        *,
        score: str = "score",
        outcome: str = "outcome",
        bins: Bins | Literal["quantiles"] = OUTCOME_BINS,
        outcome_range: tuple[float, float] | None = None,
        quantiles: int = OUTCOME_BINS,
        quantile_epsilon: Number = _QUANTILE_EPSILON,
        idempotency_key: str | None = None,
        new: bool = False,
        progress: bool = True,
        **options: Unpack[NoisyLogOptions],
    ) -> OutcomeTestResult:
        """How equally scored people of each group turned out (paper 3), from logged opportunities.

        `bins` is a number of equal bins over the public range of the score, or edges; or
        `"quantiles"`: then a first audit, at `quantile_epsilon`, finds the edges of about equally
        full bins, `quantiles` of them. What both cost is told before the first is paid. Outcomes
        are cut to `outcome_range`, their public range unless told.
        """
        asked = partial(
            self.requests.outcome_test,
            audience,
            log,
            score=score,
            outcome=outcome,
            outcome_range=outcome_range,
            **options,
        )
        running = RunOptions(idempotency_key=idempotency_key, new=new, progress=progress)
        if bins != "quantiles":
            return self._run(asked(bins=bins), OutcomeTestResult, running)
        rows = LogOptions(
            where=options.get("where", {}),
            rows_per_person=options.get("rows_per_person", 1),
            mandate_id=options.get("mandate_id"),
        )
        first = self.requests.log_cdf(audience, log, score, epsilon=quantile_epsilon, **rows)
        # The second request follows from the first release: both are kept until both are there.
        with self._pending.until_saved():
            if new or not self._pending.is_pending(first.model_dump(mode="json")):
                self._tell(self.price_all([first, asked(bins=quantiles)]), progress=progress)
            edges = self._run(first, LogCdfResult, _for_bins(running)).quantile_edges(quantiles)
            return self._run(asked(bins=edges), OutcomeTestResult, running)

    def log_cdf(
        self,
        audience: NamedAudience | str,
        log: str,
        column: str = "score",
        *,
        bins: Bins = CDF_BINS,
        epsilon: Number = 1,
        idempotency_key: str | None = None,
        new: bool = False,
        progress: bool = True,
        **options: Unpack[LogOptions],
    ) -> LogCdfResult:
        """How many logged rows of each group are up to each edge, by a tree of noisy counts."""
        request = self.requests.log_cdf(
            audience, log, column, bins=bins, epsilon=epsilon, **options
        )
        running = RunOptions(idempotency_key=idempotency_key, new=new, progress=progress)
        return self._run(request, LogCdfResult, running)

    def reo(
        self,
        audience: NamedAudience | str,
        log: str,
        *,
        creators: str,
        groups: Sequence[str] | None = None,
        signals: Sequence[str] | None = None,
        strategies: Sequence[str] | None = None,
        days: Sequence[str] | Literal["all"] = (),
        idempotency_key: str | None = None,
        new: bool = False,
        progress: bool = True,
        **options: Unpack[NoisyLogOptions],
    ) -> ReoResult:
        """Whether relevant content reaches people whoever made it (paper 4), from a feed's log.

        `creators` is the column of the creators' groups. Signals, strategies and groups are all
        that the catalogue has unless told; days are counted together unless named (`"all"`).
        Random traffic is always counted: without it there is no answer.
        """
        request = self.requests.reo(
            audience,
            log,
            creators=creators,
            groups=groups,
            signals=signals,
            strategies=strategies,
            days=days,
            **options,
        )
        running = RunOptions(idempotency_key=idempotency_key, new=new, progress=progress)
        return self._run(request, ReoResult, running)

    def bias_size(
        self,
        audience: NamedAudience | str,
        log: str,
        corrections: Corrections,
        *,
        query: str = "query",
        score: str = "score",
        outcome: str = "outcome",
        outcome_range: tuple[float, float] | None = None,
        places: int | None = None,
        idempotency_key: str | None = None,
        new: bool = False,
        progress: bool = True,
        **options: Unpack[NoisyLogOptions],
    ) -> BiasSizeResult:
        """How opportunities would move at the same number per query, if scores were corrected.

        `corrections` come from an outcome test that was released: `Corrections.of(test.moments)`.
        With `places`, ranks within so many places are summed too.
        """
        request = self.requests.bias_size(
            audience,
            log,
            corrections,
            query=query,
            score=score,
            outcome=outcome,
            outcome_range=outcome_range,
            places=places,
            **options,
        )
        running = RunOptions(idempotency_key=idempotency_key, new=new, progress=progress)
        return self._run(request, BiasSizeResult, running)

    def _tell(self, batch: BatchQuote, *, progress: bool) -> None:
        """Say what two audits cost before either is paid; stop where only one could be."""
        prices = " and ".join(
            f"{quote.price.debit} {quote.price.currency} for the {what}"
            for quote, what in zip(batch.quotes, ("bins", "test"), strict=True)
        )
        if not batch.covered:
            raise InputError(
                f"Both audits cost {prices}, which the mandate does not cover. Nothing was paid:"
                " ask for less, or give the edges of bins, which cost nothing.",
                case="not-covered",
            )
        tell(f"This costs {prices}.", show=progress)


def _for_bins(running: RunOptions) -> RunOptions:
    """Return how the audit that finds the bins is run: under a key of its own."""
    key = running.get("idempotency_key")
    return running if key is None else RunOptions(**{**running, "idempotency_key": f"{key}-bins"})
