"""Platform side of metrics with soft groups: each person's contribution, as bounded integers.

Public, declared numbers define each metric. Its `layout` names and bounds the cells before any data
are read; its `rows` turn events into integers; `sum_by_person` adds them up. The auditor's side
(`auditor_client.two_party`) reads weightsᵀ · values, which are integers too. So the encrypted
computation gives exactly the same result as the plain one.

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
