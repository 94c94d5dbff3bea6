"""Requests for audits of logs, from what people type and from what the catalogue says of a log."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import InputError
from auditor_client.kinds.bias_size.result import Corrections
from auditor_client.kinds.options import Bins, id_of, parse_bins
from auditor_client.local.audience_records import names_for
from auditor_client.transport.decimals import Number, to_decimal, to_decimal_or_none
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import (
    BiasSizeRequest,
    Catalogue,
    Edges,
    LogCdfRequest,
    LogOffer,
    OutcomeTestRequest,
    ReoRequest,
    ScoreRange,
)

OUTCOME_BINS = 10
CDF_BINS = 256


class LogOptions(TypedDict, total=False):
    """Which rows of a log count, and who pays."""

    where: Mapping[str, Sequence[str]]
    """Only rows whose column has one of these words: {"week": ["1", "2"]}."""
    rows_per_person: int
    """At most so many rows of a person, drawn at random (1)."""
    mandate_id: str | None
    """The mandate that pays, where there are several."""


class NoisyLogOptions(LogOptions, total=False):
    """With either noise."""

    mechanism: Literal["discrete-laplace", "discrete-gaussian"]
    """Which noise (discrete-laplace). Gaussian noise needs a mandate in rho."""
    epsilon: Number | None
    """What is paid, under add/remove (1)."""
    rho: Number | None
    """In place of epsilon, for Gaussian noise."""


class LogRequests:
    """What can be asked of the logs that the catalogue offers."""

    _transport: Transport

    def outcome_test(
        self,
        audience: NamedAudience | str,
        log: str,
        *,
        score: str = "score",
        outcome: str = "outcome",
        bins: Bins = OUTCOME_BINS,
        outcome_range: tuple[float, float] | None = None,
        **options: Unpack[NoisyLogOptions],
    ) -> OutcomeTestRequest:
        """The request of `audits.outcome_test`."""
        offer = self.log(log)
        low, high = outcome_range or _range(offer, outcome)
        return validate(
            OutcomeTestRequest,
            kind="outcome-test",
            audience_id=id_of(audience),
            log=log,
            score=score,
            outcome=outcome,
            bins=_edges(bins, offer, score),
            outcome_range={"low": low, "high": high},
            **noise_of(options),
            **rows_of(options),
        )

    def log_cdf(
        self,
        audience: NamedAudience | str,
        log: str,
        column: str = "score",
        *,
        bins: Bins = CDF_BINS,
        epsilon: Number = 1,
        **options: Unpack[LogOptions],
    ) -> LogCdfRequest:
        """The request of `audits.log_cdf`."""
        return validate(
            LogCdfRequest,
            kind="log-cdf",
            audience_id=id_of(audience),
            log=log,
            column=column,
            bins=_edges(bins, self.log(log), column),
            epsilon=to_decimal(epsilon),
            **rows_of(options),
        )

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
        **options: Unpack[NoisyLogOptions],
    ) -> ReoRequest:
        """The request of `audits.reo`."""
        offer = self.log(log)
        if offer.traffic is None:
            raise InputError(f"The log {log!r} is none of recommendations.")
        every = {column.name: column.values for column in offer.words}
        traffic = offer.traffic
        known = [name for name in every.get(traffic.strategy, []) if name != traffic.random]
        return validate(
            ReoRequest,
            kind="reo",
            audience_id=id_of(audience),
            log=log,
            signals=list(signals or traffic.signals),
            creators=creators,
            groups=list(groups or every.get(creators, [])),
            strategies=list(strategies or known),
            days=every.get(traffic.day or "", []) if days == "all" else list(days),
            **noise_of(options),
            **rows_of(options),
        )

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
        **options: Unpack[NoisyLogOptions],
    ) -> BiasSizeRequest:
        """The request of `audits.bias_size`."""
        low, high = outcome_range or _range(self.log(log), outcome)
        labels = {name: label for label, name in names_for(id_of(audience)).items()}
        add = {labels.get(name, name): list(each) for name, each in corrections.add.items()}
        return validate(
            BiasSizeRequest,
            kind="bias-size",
            audience_id=id_of(audience),
            log=log,
            query=query,
            score=score,
            outcome=outcome,
            bins={"edges": list(corrections.edges)},
            corrections=[{"label": label, "add": add[label]} for label in sorted(add)],
            slopes=list(corrections.slopes),
            outcome_range={"low": low, "high": high},
            places=places,
            **noise_of(options),
            **rows_of(options),
        )

    def log(self, name: str) -> LogOffer:
        """What the catalogue says of a log."""
        offered = {log.name: log for log in self._transport.get("/v1/catalogue", Catalogue).logs}
        if name not in offered:
            known = ", ".join(offered) or "none at all"
            raise InputError(
                f"The platform offers no log {name!r}; its logs are: {known}.", case="no-such-log"
            )
        return offered[name]


def rows_of(options: LogOptions) -> dict[str, Any]:
    """The fields that say which rows count, and who pays."""
    where = {name: list(words) for name, words in options.get("where", {}).items()}
    return {
        "where": where,
        "rows_per_person": options.get("rows_per_person", 1),
        "mandate_id": options.get("mandate_id"),
    }


def noise_of(options: NoisyLogOptions) -> dict[str, Any]:
    """The fields that say how much noise there is; an epsilon of 1 unless told."""
    mechanism, epsilon = options.get("mechanism", "discrete-laplace"), options.get("epsilon")
    if epsilon is None and mechanism == "discrete-laplace":
        epsilon = 1
    return {
        "mechanism": mechanism,
        "epsilon": to_decimal_or_none(epsilon, "epsilon"),
        "rho": to_decimal_or_none(options.get("rho"), "rho"),
    }


def _range(offer: LogOffer, column: str) -> tuple[float, float]:
    """The public range of a column of numbers."""
    for found in offer.numbers:
        if found.name == column:
            return found.low, found.high
    known = ", ".join(found.name for found in offer.numbers) or "none"
    raise InputError(
        f"The log {offer.name!r} has no numbers {column!r}; its numbers are: {known}.",
        case="no-such-numbers",
    )


def _edges(bins: Bins, offer: LogOffer, column: str) -> Edges:
    low, high = _range(offer, column)
    edges = parse_bins(bins, None, ScoreRange(low=low, high=high))
    return validate(Edges, edges=edges.edges if isinstance(edges, Edges) else [])
