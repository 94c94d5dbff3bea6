"""Checks, before anything is paid, for problems that would prevent the analysis."""

from collections.abc import Mapping, Sequence

from auditor_client.audiences.labels import JOIN
from auditor_client.errors import InputError
from auditor_client.fairness.metrics.mixin import bins_below
from auditor_client.kinds.score_histogram.result import bin_limits
from auditor_client.studies.study_model import Study
from openapi.resources import AuditRequest, ScoreCdfRequest, ScoreHistogramRequest


def check_before_payment(
    study: Study, requests: Mapping[str, AuditRequest], groups: Mapping[str, Sequence[str]]
) -> None:
    """Refuse a study that could be paid but not analysed. `groups` are names by audience."""
    for name, request in requests.items():
        if isinstance(request, ScoreHistogramRequest | ScoreCdfRequest):
            try:
                _compared(study, groups[study.audits[name].audience])
                for threshold in study.metrics.thresholds:
                    bins_below(bin_limits(request.bins), threshold)
            except InputError as error:
                raise InputError(f"audits.{name}: {error} Nothing was paid.") from error
    if study.canaries:
        known = groups[study.audits[study.canaries.audit].audience]
        if lost := study.canaries.present.keys() - set(known):
            raise InputError(
                f"canaries: {min(lost)!r} is not a group of the audience. Its groups are: "
                f"{', '.join(known)}. Nothing was paid.",
                case="groups-of-canaries",
            )
    tested = study.consistency.audits if study.consistency else []
    if len({frozenset(groups[study.audits[name].audience]) for name in tested}) > 1:
        raise InputError("consistency: the audiences have different groups. Nothing was paid.")


def _compared(study: Study, names: Sequence[str]) -> None:
    if len(names) < 2:
        raise InputError("A comparison needs at least two groups.")
    value = study.metrics.qualified
    if value is not None and sum(name.split(JOIN)[-1] == value for name in names) < 2:
        raise InputError(f"Fewer than two groups end in {value!r}, so there is no pair to compare.")
