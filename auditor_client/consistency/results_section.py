"""The consistency of several audits, as a section of a results document."""

from collections.abc import Mapping

from auditor_client.consistency.comparability import Relation
from auditor_client.consistency.model_test import consistency
from auditor_client.errors import InputError
from auditor_client.kinds.registry import AnyResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.results_document import ConsistencyFound


def compare_audits(
    audits: Mapping[str, AnyResult], relation: Relation, false_alarm: float = 0.001
) -> ConsistencyFound:
    """Test whether the releases can come from one model."""
    histograms = {
        name: audit for name, audit in audits.items() if isinstance(audit, ScoreHistogramResult)
    }
    if others := audits.keys() - histograms.keys():
        raise InputError(
            f"Consistency is tested of score histograms; {min(others)} is none.",
            case="another-kind",
        )
    found = consistency(list(histograms.values()), relation, false_alarm)
    return ConsistencyFound(
        audits=tuple(histograms),
        relation=relation,
        verdict=found.verdict,
        p_value=found.p_value,
        false_alarm=false_alarm,
        words=found.explain(),
    )
