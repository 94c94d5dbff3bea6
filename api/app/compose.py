"""Composition of the platform: the only module that names the simulated one or loads an adapter."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa

from api.app.container import Container, build_container
from api.execution.in_process import InProcessEngine
from api.kernel.settings import Settings
from api.kinds.context import Engine
from api.kinds.packages import admit_checked
from api.platforms.http import HttpPlatform, OnnxPlatform
from api.platforms.interfaces import Log, Persons, Platform, Ranking, Traffic

# Weight of young adult creators in the ranking of a simulated feed. The first of them satisfies the
# four-fifths rule, the second violates it.
_FAVOUR, _FAVOUR_BIASED = 1.3, 4.0
# Share of requests to a simulated feed that also draw random traffic, which an `reo` audit needs.
_RANDOM_TRAFFIC = 0.5
# Rows of one day of a simulated feed, unless fewer people ask once each.
_MOST_ROWS_PER_DAY = 400_000


def load_platform(settings: Settings) -> Platform:
    """Return the platform that the settings name."""
    return make_platform(settings.platform, settings.platform_options)


def load_engine(settings: Settings, platform: Platform) -> Engine:
    """Return the engine that the settings name: this process, or a Ray cluster."""
    if settings.ray is None:
        return InProcessEngine(platform)
    # A cluster gets no other settings, because they hold secrets.
    make = partial(make_platform, settings.platform, settings.platform_options)
    try:
        from api.execution.ray.driver import RayEngine
    except ModuleNotFoundError as error:
        raise ValueError(
            '[ray] is set, but Ray is missing. Install "platform-auditor[server,ray]".'
        ) from error

    return RayEngine(platform, make, settings.ray)


def make_platform(name: str, options: Mapping[str, Any]) -> Platform:
    """Return the platform `simulated`, `http` or `onnx`, or the result of `module:factory`."""
    known: dict[str, Callable[..., Platform]]
    known = {
        "simulated": make_simulated_platform,
        "http": HttpPlatform.at,
        "onnx": OnnxPlatform.load,
    }
    if name in known:
        return known[name](**options)
    module, _, factory = name.partition(":")
    if not (module and factory):
        raise ValueError(f"An adapter is {', '.join(known)} or module:factory, not {name!r}.")
    try:
        make = getattr(import_module(module), factory)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ValueError(f"The adapter {name!r} cannot be imported.") from error
    return cast("Platform", make(**options))


def make_simulated_platform(
    *,
    bias: bool = False,
    correlation: float = 0.0,
    people: int = 20_000,
    seed: int = 1,
    step_seconds: float = 0.0005,
) -> Platform:
    """Return a simulated platform: fair, or with a bias against one gender added to its scores.

    With a correlation no bias is added: the model learns from people who differ by group. A biased
    platform also gives a random half of its people worse recommendations, so that they envy others,
    and its feed favours young creators. Half of the requests to the feed also draw random traffic.
    """
    from platform_sim import (
        Bias,
        Exploration,
        Feed,
        Impressions,
        Opportunities,
        SimulatedPlatform,
        biased_platform,
        fair_platform,
    )

    if correlation:
        world, how = SimulatedPlatform.from_seed(seed, people, correlation), "learned"
    else:
        make, how = (biased_platform, "biased") if bias else (fair_platform, "fair")
        world = make(people=people, seed=seed)
    name = f"simulated, {how}, {people} people"
    wrong = Bias("gender", {"woman": -0.08}) if bias else None
    feed = Feed(ranking={"yes": _FAVOUR_BIASED if bias else _FAVOUR}, activation=_RANDOM_TRAFFIC)
    rows = min(feed.shown * people, _MOST_ROWS_PER_DAY)
    shown = Impressions(world.world, feed, rows_per_day=rows)
    logs = JoinedLogs((shown, Opportunities(world.world, bias=wrong)))
    policies = Exploration(seed, people, wronged=0.5 if bias else 0.0, step_seconds=step_seconds)
    return Platform(
        name=name,
        people=world,
        scores=world,
        logs=logs,
        policies=policies,
        directory=world.world.directory,
    )


class Source(Protocol):
    """Simulated logs, described by plain values: platform_sim imports none of our packages."""

    def logs(self) -> Mapping[str, Mapping[str, Any]]: ...

    def read(
        self, log: str, persons: Persons, columns: Sequence[str]
    ) -> Iterable[pa.RecordBatch]: ...


@dataclass(frozen=True)
class JoinedLogs:
    """Logs of several sources, by name."""

    sources: tuple[Source, ...]

    def logs(self) -> Mapping[str, Log]:
        described = (source.logs().items() for source in self.sources)
        return {name: _log(**fields) for logs in described for name, fields in logs}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        [source] = (each for each in self.sources if log in each.logs())
        return source.read(log, persons, columns)


def _log(
    traffic: Mapping[str, Any] | None = None,
    ranking: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Log:
    return Log(
        **fields,
        traffic=Traffic(**traffic) if traffic else None,
        ranking=Ranking(**ranking) if ranking else None,
    )


def demo_participants(
    platform: Platform, volunteers: int = 1_200
) -> tuple[pa.Table, dict[str, float]]:
    """Volunteers of the demo's study, and what is true: the gap of 20 bins and of their edges."""
    from platform_sim import SOFTWARE_JOB, SimulatedPlatform, recruit, true_gap
    from platform_sim.truth import true_shares

    world = cast("SimulatedPlatform", platform.people)
    edges = np.linspace(0, 1, 21)
    qualified = world.world.qualified("software")
    asked = (world, SOFTWARE_JOB, "gender", ("woman", "man"), edges, qualified)
    above = np.diff(np.cumsum(true_shares(*asked), axis=1), axis=0)
    truth = {"truth": true_gap(*asked), "truth_of_thresholds": float(np.abs(above).max())}
    return recruit(world.world, volunteers, seed=2026), truth


def demo_truths(platform: Platform) -> dict[str, Any]:
    """Return the contents of the demo's other audits, and the true answers by kind."""
    from platform_sim import SOFTWARE_JOB
    from platform_sim.demo_truths import FLAT_AD, truths

    feed, jobs = cast("JoinedLogs", platform.logs).sources
    known: Any = (platform.people, jobs, feed, platform.policies)
    shown = [
        {name: each[name] for name in each if name != "image"} for each in (SOFTWARE_JOB, FLAT_AD)
    ]
    return {"contents": shown, "truths": truths(*known)}


def demo_volunteers(platform: Platform) -> dict[str, pa.Table]:
    """Return the volunteers of two more studies: housing by race and gender, and political
    content.
    """
    from platform_sim import SimulatedPlatform, recruit

    world = cast("SimulatedPlatform", platform.people).world
    # A quarter are qualified for any one trade, as in the whole population: nobody is chosen by it.
    volunteers = partial(recruit, world, seed=2026, qualified=0.25)
    races, parties = ("white", "black"), ("left", "centre", "right")
    found = {
        "housing": volunteers(world.people // 5, "race", races, also=("gender",)),
        "politics": volunteers(world.people // 8, "politics", parties),
    }
    return {name: table.drop_columns("qualified") for name, table in found.items()}


def export_platform_files(platform: Platform, folder: Path) -> dict[str, Any]:
    """Write a simulated platform as files; return the options by which `onnx` loads it."""
    from platform_sim import SimulatedPlatform
    from platform_sim.export import export

    return {"name": platform.name, **export(cast("SimulatedPlatform", platform.people), folder)}


def load_container(settings: Settings) -> Container:
    """Return the parts of a deployment, with the kinds of the packages that were checked."""
    platform = load_platform(settings)
    container = build_container(settings, platform, load_engine(settings, platform))
    return replace(container, packages=admit_checked(container.store))
