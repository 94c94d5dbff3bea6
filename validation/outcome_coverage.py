"""`python -m validation.outcome_coverage [runs]`: how often the limits of an outcome test hold.

Every line simulates `runs` logs of one design, sums them as a release does, and adds the noise. It
counts how often the limits of single effects and of averages miss the true value (delta = .05), how
often any simultaneous limit misses it, and how often Wald's test rejects although no group is
disadvantaged (`type I`, in designs without an effect). A right interval covers at least 95 % of the
time, up to chance; the last lines state the bound of chance, and the worst coverage.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from auditor_client import outcome
from auditor_client.outcome.planning import REACH, UNITS
from auditor_client.stats.noise_distributions import Gaussian, Laplace, Noise, NoNoise
from auditor_client.stats.outcome_moments import OutcomeMoments

DELTA = 0.05
RUNS = 300


@dataclass(frozen=True)
class Case:
    """A design: persons by group, rows of each, bins, success probability, effect, noise, outcome.

    `shared` is the similarity of the rows of one person; `graded` outcomes are 0, .4 or 1.
    """

    people: tuple[int, ...]
    bins: int = 5
    base: float = 0.0
    effect: float = 0.0
    epsilon: float | None = 1.0
    gaussian: bool = False
    graded: bool = False
    rows: int = 1
    shared: float = 0.0

    @property
    def law(self) -> Noise:
        if self.epsilon is None:
            return NoNoise()
        if self.gaussian:
            # rho = ε²/2 for rows that change the joint table by at most √2 · 2^20 in l2
            return _Wide(2 * 2.0**40 * self.rows / self.epsilon**2)
        return Laplace(self.epsilon / (REACH * self.rows))


class _Wide(Gaussian):
    """Gaussian noise wider than that of counts; only simulated here."""

    def __post_init__(self) -> None:
        pass

    def simulated(self, generator: np.random.Generator, count: int) -> NDArray[np.int64]:
        return np.rint(generator.normal(0, self.sigma2**0.5, count)).astype(np.int64)


def cases() -> Iterator[Case]:
    """Yield the grid: each line varies one parameter."""
    usual = Case((3000, 3000))
    yield usual
    for people in ((500, 500), (1000, 1000), (10_000, 10_000), (8000, 1500), (3000, 2000, 800)):
        yield replace(usual, people=people)
    for epsilon in (None, 0.3, 4.0):
        yield replace(usual, epsilon=epsilon)
        yield replace(usual, epsilon=epsilon, people=(400, 400), bins=2)
    yield replace(usual, effect=0.1)
    yield replace(usual, gaussian=True)
    yield replace(usual, graded=True)
    yield replace(usual, base=-0.35)
    yield replace(usual, base=-0.35, epsilon=None, people=(200, 200))
    yield replace(usual, bins=20, people=(20_000, 20_000))
    yield replace(usual, rows=4, shared=0.0)
    yield replace(usual, rows=4, shared=1.0)
    yield replace(usual, rows=4, shared=1.0, epsilon=None)


def log(case: Case, generator: np.random.Generator) -> pa.Table:
    """Return score, outcome and group of each row; the groups' scores have different
    distributions.
    """
    groups = np.repeat(np.arange(len(case.people)), case.people)
    luck = generator.random(len(groups))
    persons = np.repeat(np.arange(len(groups)), case.rows)
    group = groups[persons]
    score = generator.beta(2 + 0.5 * group, 2.5)
    chance = np.clip(0.15 + 0.7 * score + case.base * score + case.effect * (group == 1), 0.005, 1)
    own = np.where(
        generator.random(len(persons)) < case.shared, luck[persons], generator.random(len(persons))
    )
    result = (own < chance).astype(float)
    if case.graded:
        result *= np.where(generator.random(len(persons)) < 0.5, 0.4, 1.0)
    return pa.table({"score": score, "outcome": result, "group": group})


def release(case: Case, generator: np.random.Generator) -> OutcomeMoments:
    """Return a platform's release for one log."""
    table = log(case, generator)
    edges = np.linspace(0, 1, case.bins + 1).tolist()
    exact = outcome.from_frame(table, score="score", outcome="outcome", group="group", bins=edges)
    drawn = case.law.simulated(generator, exact.sums.size).reshape(exact.sums.shape)
    noisy = exact.sums + drawn / np.array(UNITS)
    return OutcomeMoments(exact.groups, exact.edges, (0.0, 1.0), noisy, case.rows, case.law, UNITS)


def truth(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return effects relative to the first group, and averages, by bin, from a very long log."""
    many = replace(case, people=(2_000_000,) * len(case.people), rows=1, epsilon=None)
    moments = release(many, np.random.default_rng(0))
    found = outcome.test(moments, variance="classical", binary=not case.graded)
    return (
        np.array([each.estimate for each in found.coefficients()]),
        np.array([each.mean for each in found.marginals]),
    )


def measure(case: Case, runs: int, generator: np.random.Generator) -> dict[str, float]:
    """Return the shares of misses."""
    effects, means = truth(case)
    single = several = average = rejected = defined = wide = 0.0
    for _ in range(runs):
        found = outcome.test(release(case, generator), binary=not case.graded, delta=DELTA)
        beta = found.coefficients()
        known = np.array([each.defined for each in beta])
        inside = np.array(
            [each.low <= b <= each.high for each, b in zip(beta, effects, strict=True)]
        )
        at_once = [
            each.low_all <= b <= each.high_all
            for each, b in zip(beta, effects, strict=True)
            if each.defined
        ]
        defined += float(known.mean())
        single += float((~inside[known]).mean()) if known.any() else 0.0
        several += not all(at_once)
        average += float(
            np.mean(
                [
                    not each.low <= m <= each.high
                    for each, m in zip(found.marginals, means, strict=True)
                ]
            )
        )
        rejected += found.wald is not None and found.wald.p_value < DELTA
        wide += float(np.nanmean([each.se for each in beta])) if known.any() else 0.0
    return {
        "defined": defined / runs,
        "se": wide / runs,
        "single": single / runs,
        "all": several / runs,
        "average": average / runs,
        "wald": rejected / runs,
    }


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(
        "people               bins rows shared   eps      noise effect defined     se  cover"
        "  at once averages  type I"
    )
    worst = 1.0
    for number, case in enumerate(cases()):
        found = measure(case, runs, np.random.default_rng(number))
        worst = min(worst, 1 - found["single"], 1 - found["all"], 1 - found["average"])
        chance = "power" if case.effect else "     "
        if not case.effect:
            worst = min(worst, 1 - found["wald"])
        law = "none" if case.epsilon is None else "gaussian" if case.gaussian else "laplace"
        print(
            f"{case.people!s:20} {case.bins:4} {case.rows:4} {case.shared:6} {case.epsilon!s:>5}"
            f" {law:>10} {case.effect:6} {found['defined']:7.2f} {found['se']:6.4f}"
            f" {1 - found['single']:6.3f} {1 - found['all']:8.3f} {1 - found['average']:8.3f}"
            f" {found['wald']:7.3f} {chance}",
            flush=True,
        )
    print(f"worst: {worst:.4f}; of {runs} runs at 95 %, chance alone goes down to", end=" ")
    print(f"{1 - stats.binom.ppf(1 - 1e-3, runs, DELTA) / runs:.3f} once in a thousand")


if __name__ == "__main__":
    main()
