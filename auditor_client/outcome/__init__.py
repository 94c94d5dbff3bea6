"""Outcome test: whether people with equal scores have equal outcomes, whatever their group.

    from auditor_client import outcome

    moments = outcome.from_frame(log, score="score", outcome="hired", group="gender", bins=10)
    found = outcome.test(moments, reference="women")
    for sentence in found.words(tolerance=0.01):
        print(sentence)

A release of kind `outcome-test` has such `moments` too, with noise that every result takes into
account. docs/explanation/outcome-test.md defines the estimates and proves the limits.

[YS22] Yu, Saint-Jacques, "Choosing an algorithmic fairness metric for an online marketplace".
"""

from auditor_client.outcome.bias_correction import CorrectionEffect, Notified, notifications, ranks
from auditor_client.outcome.bin_sums import FrameMoments
from auditor_client.outcome.charts import effect_chart, marginal_chart
from auditor_client.outcome.effects import Effect
from auditor_client.outcome.joint_test import Wald
from auditor_client.outcome.log_reader import from_frame
from auditor_client.outcome.marginals import Marginal
from auditor_client.outcome.other_metrics import equalised_odds, precision
from auditor_client.outcome.outcome_test import Tested, test
from auditor_client.outcome.planning import OutcomeTestPlan, power_of, sample_size, simulated_power
from auditor_client.outcome.resampling_limits import ResamplingLimits
from auditor_client.stats.outcome_moments import OutcomeMoments

__all__ = [
    "CorrectionEffect",
    "Effect",
    "FrameMoments",
    "Marginal",
    "Notified",
    "OutcomeMoments",
    "OutcomeTestPlan",
    "ResamplingLimits",
    "Tested",
    "Wald",
    "effect_chart",
    "equalised_odds",
    "from_frame",
    "marginal_chart",
    "notifications",
    "power_of",
    "precision",
    "ranks",
    "sample_size",
    "simulated_power",
    "test",
]
