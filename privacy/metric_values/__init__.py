"""The platform's side of metrics with soft groups: what each person adds, as bounded integers.

Each metric here is made of public, declared numbers. Its `layout` names the cells and bounds them
before any data are seen; its `rows` turn events into integers; `summed` adds them up by person. The
auditor's side (`auditor_client.two_party`) reads weightsᵀ · values, integers too: what comes out of
the encrypted computation equals the plain one exactly.

Nothing here needs the cryptography of `privacy.two_party`.
"""

from privacy.metric_values.layout import Integers, Layout, MemberRows, sum_by_person
from privacy.metric_values.list_caps import NOBODY, Capped, Caps, cap_lists
from privacy.metric_values.list_extraction import ListRows, Lists, extract_lists
from privacy.metric_values.rankings import AdjacentRanks, Ndcg, RankGaps
from privacy.metric_values.rates import Bins, FalsePositives, Outcomes
from privacy.metric_values.scores import Kernels, SampledPairs, ScoreBins, every_score

__all__ = [
    "NOBODY",
    "AdjacentRanks",
    "Bins",
    "Capped",
    "Caps",
    "FalsePositives",
    "Integers",
    "Kernels",
    "Layout",
    "ListRows",
    "Lists",
    "MemberRows",
    "Ndcg",
    "Outcomes",
    "RankGaps",
    "SampledPairs",
    "ScoreBins",
    "cap_lists",
    "every_score",
    "extract_lists",
    "sum_by_person",
]
