"""Sections of a results document: consistency of audits, and checks by canaries."""

from collections.abc import Mapping

from auditor_client.consistency.canary import Shown, field_check, presence_check
from auditor_client.consistency.comparability import Relation
from auditor_client.consistency.model_test import consistency
from auditor_client.errors import InputError
from auditor_client.kinds.registry import AnyResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.results_document import CanariesFound, ConsistencyFound


def compare_audits(
    audits: Mapping[str, AnyResult], relation: Relation, false_alarm: float = 0.001
) -> ConsistencyFound:
    """Test whether the releases can come from one model."""
    histograms = {
        name: audit for name, audit in audits.items() if isinstance(audit, ScoreHistogramResult)
    }
    if others := audits.keys() - histograms.keys():
        raise InputError(
            f"Only score histograms can be tested for consistency; {min(others)} is of "
            "another kind.",
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


def check_by_canaries(
    name: str,
    audit: AnyResult,
    present: Mapping[str, int],
    shown: Mapping[str, Shown],
    false_alarm: float = 0.01,
) -> tuple[CanariesFound, ...]:
    """Check one audit by the canaries in it and by those who watched the deliveries."""
    if not isinstance(audit, ScoreHistogramResult):
        raise InputError(
            f"Canaries check only score histograms; {name} is of another kind.", case="another-kind"
        )
    found = [
        CanariesFound(
            audit=name, check="presence", groups=(one.group,), verdict=one.verdict,
            p_value=one.p_value, false_alarm=false_alarm, words=one.explain(),
        )
        for one in (presence_check(audit, present, false_alarm) if present else [])
    ]  # fmt: skip
    if shown:
        field = field_check(audit, shown, false_alarm)
        found.append(
            CanariesFound(
                audit=name, check="field", groups=field.groups, verdict=field.verdict,
                p_value=field.p_value, false_alarm=false_alarm, words=field.explain(),
            )
        )  # fmt: skip
    return tuple(found)
