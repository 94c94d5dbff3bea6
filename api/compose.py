"""The one place that names a platform: the simulated one, or a deployment's own by settings."""

from importlib import import_module
from typing import cast

import numpy as np
import pyarrow as pa

from api.app import build_service
from api.platform import Platform
from api.service import Service
from api.settings import Settings


def load_platform(settings: Settings) -> Platform:
    """`simulated`, or what `module:factory` makes of `platform_options`."""
    if settings.platform == "simulated":
        return simulated(**settings.platform_options)
    module, _, factory = settings.platform.partition(":")
    make = getattr(import_module(module), factory)
    return cast("Platform", make(**settings.platform_options))


def simulated(*, bias: bool = False, people: int = 20_000, seed: int = 1) -> Platform:
    """A simulated platform: fair, or with a bias against one gender injected into its scores."""
    from platform_sim import biased_platform, fair_platform

    make = biased_platform if bias else fair_platform
    world = make(people=people, seed=seed)
    name = f"simulated, {'biased' if bias else 'fair'}, {people} people"
    return Platform(name=name, people=world, scores=world)


def demo_participants(platform: Platform, volunteers: int = 1_200) -> tuple[pa.Table, float]:
    """Volunteers of the demo's study, and the true gap that it is to find in 20 bins."""
    from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit, true_gap

    world = cast("SimulatedPlatform", platform.people)
    edges = np.linspace(0, 1, 21)
    qualified = world.world.qualified("software")
    gap = true_gap(world, SOFTWARE_JOB, "gender", ("woman", "man"), edges, qualified)
    return recruit(world.world, volunteers, seed=2026), gap


def load_service(settings: Settings) -> Service:
    return build_service(settings, load_platform(settings))
