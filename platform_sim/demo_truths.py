"""True answers of the demo's audits, in words. No auditor sees them: they judge the answers."""

from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from platform_sim.demo import SOFTWARE_JOB
from platform_sim.exploration.world import Exploration
from platform_sim.feed.impressions import Impressions
from platform_sim.feed.ranking import RANDOM
from platform_sim.feed.signals import SIGNALS
from platform_sim.jobs.opportunities import Opportunities
from platform_sim.platform import SimulatedPlatform
from platform_sim.truth import true_gap, true_shares

# A second content, with which the job ad is compared.
FLAT_AD: dict[str, Any] = {
    "kind": "housing",
    "title": "Flat to let",
    "text": "Two rooms and a kitchen near the station.",
    "attributes": {},
    "image": None,
}
CREATORS, STRATEGY = "young_adult", "default"


def truths(
    platform: SimulatedPlatform, jobs: Opportunities, feed: Impressions, policies: Exploration
) -> dict[str, str]:
    """Return the true answers about the platform, by kind of audit."""
    drawn = "the platform drew exactly the requested people"
    shifted = "nothing is subtracted from anybody's score"
    if jobs.bias is not None:
        by_value = jobs.bias.amounts.items()
        shifted = ", ".join(
            f"{-by:g} is subtracted from the score of every {who}" for who, by in by_value
        )
    return {
        "score-cdf": f"the largest difference is {100 * _distance(platform):.1f} percentage points",
        "match-count": drawn,
        "most-skewed": _gaps(platform),
        "balance-histogram": "only the people uploaded for the first audit have debits that this"
        " kind reads; it does not read debits in samples, although they count towards the cap",
        "outcome-test": shifted,
        "log-cdf": _medians(jobs),
        "bias-size": shifted,
        "reo": f"the penalty over all rows is {_penalty(feed.table):.2f}",
        "envy-freeness": f"{_wronged(platform, policies):.0%} of people envy others",
    }


def _gaps(platform: SimulatedPlatform) -> str:
    edges, groups = np.linspace(0, 1, 21), ("woman", "man")
    found = (
        f"{true_gap(platform, content, 'gender', groups, edges):.3f} for “{content['title']}”"
        for content in (SOFTWARE_JOB, FLAT_AD)
    )
    return f"the true gaps are {' and '.join(found)}"


def _distance(platform: SimulatedPlatform) -> float:
    edges = np.linspace(0, 1, 21)
    shares = true_shares(platform, SOFTWARE_JOB, "gender", ("woman", "man"), edges)
    return float(np.abs(np.diff(np.cumsum(shares, axis=1), axis=0)).max())


def _medians(jobs: Opportunities) -> str:
    table = jobs.table("instajob")
    score, gender = table["score"].to_numpy(), np.asarray(table["gender"].to_pylist())
    found = (f"{np.median(score[gender == name]):.3f} for {name}" for name in ("woman", "man"))
    return f"the medians over all rows are {' and '.join(found)}"


def _penalty(table: pa.Table) -> float:
    """Return std(U) / mean(U) of all rows; U is positives shown per positive in random traffic."""
    is_positive = reduce(pc.or_, (pc.greater(table[name], 0.5) for name in SIGNALS))
    positive = table.filter(is_positive)
    ratios = []
    for value in ("yes", "no"):
        of_group = positive.filter(pc.equal(positive[CREATORS].cast(pa.string()), value))
        strategy = of_group["strategy"].cast(pa.string())
        shown, probed = (pc.sum(pc.equal(strategy, name)).as_py() for name in (STRATEGY, RANDOM))
        ratios.append(shown / max(probed, 1))
    return float(np.std(ratios) / np.mean(ratios))


def _wronged(platform: SimulatedPlatform, policies: Exploration) -> float:
    return float(policies.are_wronged(np.arange(platform.world.people)).mean())
