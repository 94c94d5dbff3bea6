"""A realistic simulated platform: people, their history, a model learned from it, and a known
truth.
"""

from platform_sim.demo import SOFTWARE_JOB, biased_platform, fair_platform
from platform_sim.exploration.world import Exploration
from platform_sim.feed.impressions import Impressions
from platform_sim.feed.ranking import Feed
from platform_sim.jobs.opportunities import Opportunities
from platform_sim.jobs.outcomes import Prejudice
from platform_sim.learned_model.bias import Bias
from platform_sim.platform import SimulatedPlatform
from platform_sim.recruitment import recruit
from platform_sim.truth import true_gap
from platform_sim.world import World

__all__ = [
    "SOFTWARE_JOB",
    "Bias",
    "Exploration",
    "Feed",
    "Impressions",
    "Opportunities",
    "Prejudice",
    "SimulatedPlatform",
    "World",
    "biased_platform",
    "fair_platform",
    "recruit",
    "true_gap",
]
