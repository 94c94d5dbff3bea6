"""A check that a study has enough people: its plan compared with its files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditor_client.audiences.tables import read_members
from auditor_client.studies.audiences import SampleAudience
from auditor_client.studies.audit_models import StudyAudit
from auditor_client.studies.pinned_files import people_of
from auditor_client.studies.study_model import Planning, Study
from openapi.kinds.score_histogram import KIND as SCORE_HISTOGRAM


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
            "people_per_group_needed": _needed(
                study, study.plan, asked, len(sizes[asked.audience])
            ),
            "smallest_group": min(sizes[asked.audience].values()),
        }
        for name, asked in study.audits.items()
        if asked.kind == SCORE_HISTOGRAM.name and asked.model_dump()["epsilon"] is not None
    }


def _needed(study: Study, plan: Planning, asked: StudyAudit, groups: int) -> int | None:
    from auditor_client.planning.sample_size import verdict_size  # SciPy takes seconds to import

    sample = isinstance(study.audiences[asked.audience], SampleAudience)
    said = asked.model_dump()
    bins, levels, size_epsilon = said["bins"], said["levels"], said["size_epsilon"]
    bins = bins if isinstance(bins, int) else len(bins) - 1
    try:
        return verdict_size(
            study.alpha,
            study.delta_each,
            groups,
            # Scores outside all bins are one more bin.
            bins=1 + (bins if levels is None else len(levels)),
            epsilon=float(said["epsilon"] or 1),
            power=plan.power,
            true_gap=plan.true_gap,
            match_rate=plan.match_rate,
            size_epsilon=None if size_epsilon is None else float(size_epsilon),
            audience="sample" if sample else "upload",
        )
    except ValueError:
        return None  # no number of people is enough
