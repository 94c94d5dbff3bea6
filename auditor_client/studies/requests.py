"""The requests of a study's audits, once contents and audiences have identifiers."""

from decimal import ROUND_DOWN, Decimal

from auditor_client.audits.request_builder import RequestBuilder
from auditor_client.errors import InputError
from auditor_client.kinds.bias_size.result import Corrections
from auditor_client.kinds.building_blocks.log_options import LogOptions, NoisyLogOptions
from auditor_client.kinds.options import Options
from auditor_client.studies.audit_models import (
    AnyStudyAudit,
    StudyBalanceHistogram,
    StudyBiasSize,
    StudyEnvyFreeness,
    StudyLogCdf,
    StudyMatchCount,
    StudyMostSkewed,
    StudyOutcomeTest,
    StudyReo,
    StudyScoreCdf,
    StudyScoreHistogram,
)
from auditor_client.studies.state import StudyState
from openapi.resources import AuditRequest

_MILLIONTH = Decimal("0.000001")


def request_of(
    asked: AnyStudyAudit,
    made: StudyState,
    requests: RequestBuilder,
    delta: float,
    corrections: Corrections | None = None,
) -> AuditRequest:
    """What is submitted for one audit of the study.

    A certificate of envy-freeness takes `delta`; the size of a bias needs `corrections`.
    """
    if isinstance(asked, StudyOutcomeTest | StudyBiasSize | StudyLogCdf | StudyReo):
        return _of_log(asked, made.audiences[asked.audience], requests, corrections)
    audience = made.audiences[asked.audience]
    contents = [made.contents[name] for name in asked.content_names]
    match asked:
        case StudyScoreHistogram():
            return requests.score_histogram(contents[0], audience, **_options(asked))
        case StudyScoreCdf():
            return requests.cdf(
                contents[0],
                audience,
                bins=asked.bins,
                epsilon=asked.epsilon,
                context=asked.context,
                mandate_id=asked.mandate,
            )
        case StudyMostSkewed():
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
        case StudyMatchCount():
            return requests.match_count(audience, asked.epsilon, mandate_id=asked.mandate)
        case StudyBalanceHistogram():
            return requests.balances(
                audience, bins=asked.bins, epsilon=asked.epsilon, mandate_id=asked.mandate
            )
        case StudyEnvyFreeness():
            return _of_envy(asked, audience, requests, delta)


def _of_envy(
    asked: StudyEnvyFreeness, audience: str, requests: RequestBuilder, delta: float
) -> AuditRequest:
    # Never rounded up, and to as many places as there are.
    share = Decimal(str(delta)).quantize(_MILLIONTH, ROUND_DOWN)
    told = asked.model_dump(exclude={"kind", "audience", "mandate", "criterion"}, exclude_none=True)
    return requests.envy(audience, **told, delta=share, mandate_id=asked.mandate)


def _of_log(
    asked: StudyOutcomeTest | StudyBiasSize | StudyLogCdf | StudyReo,
    audience: str,
    requests: RequestBuilder,
    corrections: Corrections | None,
) -> AuditRequest:
    rows = LogOptions(
        where=asked.where, rows_per_person=asked.rows_per_person, mandate_id=asked.mandate
    )
    if isinstance(asked, StudyLogCdf):
        return requests.log_cdf(
            audience, asked.log, asked.column, bins=asked.bins, epsilon=asked.epsilon, **rows
        )
    noisy = NoisyLogOptions(mechanism=asked.mechanism, epsilon=asked.epsilon, rho=asked.rho, **rows)
    if isinstance(asked, StudyReo):
        return requests.reo(
            audience,
            asked.log,
            creators=asked.creators,
            groups=asked.groups,
            signals=asked.signals,
            strategies=asked.strategies,
            days=asked.days,
            **noisy,
        )
    low_high = (
        None if asked.outcome_range is None else (asked.outcome_range[0], asked.outcome_range[1])
    )
    columns = {"score": asked.score, "outcome": asked.outcome}
    if isinstance(asked, StudyOutcomeTest):
        return requests.outcome_test(
            audience, asked.log, **columns, bins=asked.bins, outcome_range=low_high, **noisy
        )
    if corrections is None:
        raise InputError("The size of a bias needs what the outcome test has released.")
    return requests.bias_size(
        audience,
        asked.log,
        corrections,
        **columns,
        query=asked.query,
        outcome_range=low_high,
        places=asked.places,
        **noisy,
    )


def _options(asked: StudyScoreHistogram) -> Options:
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
