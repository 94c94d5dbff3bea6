"""Metrics with soft groups, from sums of values that neither party could see.

    from auditor_client import two_party

    sums = two_party.SoftGroupSums.of(groups, metric.layout, released, weight_scale, noise)
    rates = two_party.false_flags(sums)
    rates.averages(delta=0.05)                          # by group, between limits
    two_party.spread_beyond(rates, tolerance=0.02).explain()

The platform's side of each metric is in `privacy.metric_values`;
docs/explanation/two-party-metrics.md has the formulas, the sensitivities, and the effect of soft
labels on differences.

[OHB26] Osoba, He, Badrinarayanan et al., Productionized fairness measurement under privacy
       constraints, arXiv:2606.27558.
"""

from auditor_client.two_party.attenuation import (
    Attenuation,
    Sandwich,
    attenuation,
    frechet,
    sandwich,
    share_left,
)
from auditor_client.two_party.auc import area, aucs, roc
from auditor_client.two_party.counts import at_least
from auditor_client.two_party.decisions import (
    Decision,
    auc_below,
    gap_beyond,
    impact_beyond,
    misranked,
    service_below,
    spread_beyond,
    too_few,
)
from auditor_client.two_party.impact import discounts, largest_gap, total_impact
from auditor_client.two_party.metrics import (
    bin_shares,
    false_flags,
    false_positive_rates,
    kernel_averages,
    ndcg,
    outcomes,
    rank_gaps,
)
from auditor_client.two_party.noisy_sums import SoftGroupSums
from auditor_client.two_party.ratios import Average, GroupDifference, Ratios

__all__ = [
    "Attenuation",
    "Average",
    "Decision",
    "GroupDifference",
    "Ratios",
    "Sandwich",
    "SoftGroupSums",
    "area",
    "at_least",
    "attenuation",
    "auc_below",
    "aucs",
    "bin_shares",
    "discounts",
    "false_flags",
    "false_positive_rates",
    "frechet",
    "gap_beyond",
    "impact_beyond",
    "kernel_averages",
    "largest_gap",
    "misranked",
    "ndcg",
    "outcomes",
    "rank_gaps",
    "roc",
    "sandwich",
    "service_below",
    "share_left",
    "spread_beyond",
    "too_few",
    "total_impact",
]
