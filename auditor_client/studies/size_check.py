"""A check that a study has enough people: its plan compared with its files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor_client.audiences.tables import read_members
from auditor_client.planning.default_bins import (
    BinsQuestion,
    bins_below_middle,
    laplace_variance,
)
from auditor_client.studies.audiences import Audience, SampleAudience
from auditor_client.studies.audit_models import StudyAudit
from auditor_client.studies.pinned_files import people_of
from auditor_client.studies.study_model import Planning, Study
from openapi.kinds.score_histogram import KIND as SCORE_HISTOGRAM

if TYPE_CHECKING:
    from auditor_client.planning.audiences import AudienceSource


def group_sizes(study: Study, folder: Path) -> dict[str, dict[str, int]]:
    """Count the people of each group of each audience, by name. Nothing leaves this machine."""
    sizes: dict[str, dict[str, int]] = {}
    for name, audience in study.audiences.items():
        if isinstance(audience, SampleAudience):
            sizes[name] = dict(audience.sizes)
            continue
        frame, columns = people_of(audience, folder)
        members = read_members(
            frame,
            audience.id,
            columns,
            audience.where,
            id_kind=audience.id_kind,
            country=audience.country,
            missing_groups="drop" if audience.drop_missing else "refuse",
        )
        sizes[name] = {group: len(people) for group, people in members.groups.items()}
    return sizes


def needed(study: Study, sizes: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, Any]]:
    """Return, for each score histogram with Laplace noise, the number of people per group to
    upload.
    """
    if study.plan is None:
        return {}
    return {
        name: {
            "people_per_group_needed": _needed(study, study.plan, asked, sizes[asked.audience]),
            "smallest_group": min(sizes[asked.audience].values()),
        }
        for name, asked in study.audits.items()
        if asked.kind == SCORE_HISTOGRAM.name and asked.model_dump()["epsilon"] is not None
    }


def _needed(
    study: Study, plan: Planning, asked: StudyAudit, sizes: Mapping[str, int]
) -> int | None:
    from auditor_client.planning.sample_size import verdict_size  # SciPy takes seconds to import

    audience = study.audiences[asked.audience]
    said, source = asked.model_dump(), source_of(audience)
    # A person in several groups moves as many cells.
    reach = 1 if isinstance(audience, SampleAudience) else audience.groups_per_person
    epsilon, paid = float(said["epsilon"] or 1) / reach, said["size_epsilon"]
    size_epsilon = epsilon / 4 if paid is None else float(paid) / reach
    scale = (2 if source == "sample" else 1) / epsilon
    known = source != "upload" or size_epsilon == 0
    question = BinsQuestion(
        people=min(sizes.values()) * (plan.match_rate if source == "upload" else 1.0),
        variance=laplace_variance(scale),
        size_variance=0.0 if known else laplace_variance(1 / size_epsilon),
        groups=max(len(sizes), 2),
        alpha=study.alpha,
        delta=study.delta_each,
    )
    try:
        return verdict_size(
            study.alpha,
            study.delta_each,
            len(sizes),
            # Scores outside all bins are one more bin.
            bins=1 + _bins(said, question),
            epsilon=epsilon,
            power=plan.power,
            true_gap=plan.true_gap,
            match_rate=plan.match_rate,
            size_epsilon=size_epsilon,
            audience=source,
            ratios=list(sizes.values()),
        )
    except ValueError:
        return None  # no number of people is enough


def source_of(audience: Audience) -> "AudienceSource":
    """Return how the people of an audience come to the audit."""
    if isinstance(audience, SampleAudience):
        return "sample"
    return "confirmed" if audience.confirmed else "upload"


def _bins(said: Mapping[str, Any], question: BinsQuestion) -> int:
    """Return the number of bins: of levels, of given bins, or those that the planner chooses."""
    bins, levels = said["bins"], said["levels"]
    if levels is not None:
        return len(levels)
    if bins is None:
        return 3 * bins_below_middle(question)
    return bins if isinstance(bins, int) else len(bins) - 1
