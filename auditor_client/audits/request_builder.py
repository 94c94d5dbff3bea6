"""Requests for audits of every kind, from what people type. Nothing is spent by making one."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from auditor_client.audiences.client import NamedAudience
from auditor_client.kinds.building_blocks.log_options import LogRequests
from auditor_client.kinds.envy_freeness.request import EnvyRequests
from auditor_client.kinds.options import (
    DEFAULT_BINS,
    Bins,
    Options,
    audit_request,
    id_of,
    parse_bins,
)
from auditor_client.kinds.two_party.request import TwoPartyRequests
from auditor_client.transport.decimals import Number, to_decimal
from auditor_client.transport.http_client import Transport
from auditor_client.transport.validation import validate
from openapi.resources import (
    BalanceHistogramRequest,
    Catalogue,
    Content,
    Edges,
    Levels,
    MatchCountRequest,
    MostSkewedRequest,
    ScoreCdfRequest,
    ScoreHistogramRequest,
    ScoreRange,
    ShareEdges,
)

Context = Mapping[str, str | float]
BALANCE_BINS = 10


class RequestBuilder(LogRequests, EnvyRequests, TwoPartyRequests):
    """The requests that can be submitted, or priced together by `price_all`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def score_histogram(
        self, content: Content | str, audience: NamedAudience | str, **options: Unpack[Options]
    ) -> ScoreHistogramRequest:
        """The request of `audits.run`."""
        return audit_request(content, audience, self._scores(), options)

    def cdf(
        self,
        content: Content | str,
        audience: NamedAudience | str,
        *,
        bins: Bins = DEFAULT_BINS,
        epsilon: Number = 1,
        context: Context | None = None,
        mandate_id: str | None = None,
    ) -> ScoreCdfRequest:
        """The request of `audits.cdf`."""
        return validate(
            ScoreCdfRequest,
            kind="score-cdf",
            content_id=id_of(content),
            audience_id=id_of(audience),
            bins=self._bins(bins, None),
            epsilon=to_decimal(epsilon),
            context=dict(context or {}),
            mandate_id=mandate_id,
        )

    def match_count(
        self,
        audience: NamedAudience | str,
        epsilon: Number = 1,
        *,
        mandate_id: str | None = None,
    ) -> MatchCountRequest:
        """The request of `audits.match_count`."""
        return validate(
            MatchCountRequest,
            kind="match-count",
            audience_id=id_of(audience),
            epsilon=to_decimal(epsilon),
            mandate_id=mandate_id,
        )

    def most_skewed(
        self,
        contents: Sequence[Content | str],
        audience: NamedAudience | str,
        *,
        bins: Bins = DEFAULT_BINS,
        levels: Sequence[float] | None = None,
        epsilon: Number = 1,
        weights: tuple[int, int] = (1, 1),
        context: Context | None = None,
        mandate_id: str | None = None,
    ) -> MostSkewedRequest:
        """The request of `audits.most_skewed`."""
        return validate(
            MostSkewedRequest,
            kind="most-skewed",
            contents=[id_of(content) for content in contents],
            audience_id=id_of(audience),
            bins=self._bins(bins, levels),
            epsilon=to_decimal(epsilon),
            weights=weights,
            context=dict(context or {}),
            mandate_id=mandate_id,
        )

    def balances(
        self,
        audience: NamedAudience | str,
        *,
        bins: Bins = BALANCE_BINS,
        epsilon: Number = 1,
        mandate_id: str | None = None,
    ) -> BalanceHistogramRequest:
        """The request of `audits.balances`."""
        edges = parse_bins(bins, None, ScoreRange(low=0, high=1))
        return validate(
            BalanceHistogramRequest,
            kind="balance-histogram",
            audience_id=id_of(audience),
            bins=validate(ShareEdges, edges=edges.edges if isinstance(edges, Edges) else []),
            epsilon=to_decimal(epsilon),
            mandate_id=mandate_id,
        )

    def _bins(self, bins: Bins, levels: Sequence[float] | None) -> Edges | Levels:
        return parse_bins(bins, levels, self._scores())

    def _scores(self) -> ScoreRange:
        return self._transport.get("/v1/catalogue", Catalogue).score_range
