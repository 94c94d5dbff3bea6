"""The requests of a study's audits, once contents and audiences have identifiers."""

from auditor_client.asking import Requests
from auditor_client.requests import Options
from auditor_client.study.asked import (
    AnyAsked,
    BalanceHistogram,
    MatchCount,
    MostSkewed,
    ScoreCdf,
    ScoreHistogram,
)
from auditor_client.study.state import Made
from openapi.models import AuditRequest


def request_of(asked: AnyAsked, made: Made, requests: Requests) -> AuditRequest:
    """What is submitted for one audit of the study."""
    audience = made.audiences[asked.audience]
    contents = [made.contents[name] for name in asked.content_names]
    match asked:
        case ScoreHistogram():
            return requests.score_histogram(contents[0], audience, **_options(asked))
        case ScoreCdf():
            return requests.cdf(
                contents[0],
                audience,
                bins=asked.bins,
                epsilon=asked.epsilon,
                context=asked.context,
                mandate_id=asked.mandate,
            )
        case MostSkewed():
            first, second = asked.weights
            return requests.most_skewed(
                contents,
                audience,
                bins=asked.bins,
                levels=asked.levels,
                epsilon=asked.epsilon,
                weights=(first, second),
                context=asked.context,
                mandate_id=asked.mandate,
            )
        case MatchCount():
            return requests.match_count(audience, asked.epsilon, mandate_id=asked.mandate)
        case BalanceHistogram():
            return requests.balances(
                audience, bins=asked.bins, epsilon=asked.epsilon, mandate_id=asked.mandate
            )


def _options(asked: ScoreHistogram) -> Options:
    return Options(
        bins=asked.bins,
        levels=asked.levels,
        mechanism=asked.mechanism,
        epsilon=asked.epsilon,
        size_epsilon=asked.size_epsilon,
        rho=asked.rho,
        size_rho=asked.size_rho,
        context=asked.context,
        mandate_id=asked.mandate,
    )
