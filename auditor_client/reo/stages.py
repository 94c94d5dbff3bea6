"""Stages of a recommender: the penalties of recall and of ranking.

A platform that also inserts items that passed the recall stage, whatever their rank, has a third
traffic. Compared with random traffic, it measures the recall stage. Default traffic compared with
it measures the ranking stage.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Appendix I.4.
"""

from dataclasses import dataclass

from auditor_client.reo.counts import AnyDistribution, Positives
from auditor_client.reo.penalty_estimate import Penalty, penalty


@dataclass(frozen=True)
class Stages:
    """Penalty of the whole recommender, of the recall stage, and of the ranking stage."""

    whole: Penalty
    recall: Penalty
    ranking: Penalty


def stages(
    recommended: Positives,
    recalled: Positives,
    random: Positives | None,
    delta: float = 0.05,
    *,
    noise_recommended: AnyDistribution | None = None,
    noise_recalled: AnyDistribution | None = None,
    noise_random: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> Stages:
    """Return the penalties from positives by group in default traffic, after recall, and in random
    traffic.

    Utilities multiply: U of the whole is U of recall times U of ranking.
    """

    def one(
        above: Positives,
        below: Positives | None,
        over: AnyDistribution | None,
        under: AnyDistribution | None,
    ) -> Penalty:
        return penalty(
            above, below, delta=delta, noise_recommended=over, noise_random=under,
            rows_per_viewer=rows_per_viewer,
        )  # fmt: skip

    return Stages(
        whole=one(recommended, random, noise_recommended, noise_random),
        recall=one(recalled, random, noise_recalled, noise_random),
        ranking=one(recommended, recalled, noise_recommended, noise_recalled),
    )
