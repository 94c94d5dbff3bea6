"""Goals of the load test: what was measured, what is asked for, and when a miss counts."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

# A missed goal is repeated this often before it counts.
REPEATS = 2


@dataclass(frozen=True)
class Goal:
    """One number and its limit: at most the limit, or at least where `at_least` is set.

    `is_speed` marks numbers that another program on the machine can make worse.
    """

    name: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False
    detail: str = ""
    is_speed: bool = False

    @property
    def is_met(self) -> bool:
        if math.isnan(self.value):
            return False
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def is_only_slow(self) -> bool:
        """Whether the goal is missed, but everything was answered in the end."""
        return self.is_speed and not self.is_met and math.isfinite(self.value)

    def __str__(self) -> str:
        verdict = "met" if self.is_met else "MISSED"
        sign = "≥" if self.at_least else "≤"
        unit = f" {self.unit}" if self.unit else ""
        told = f" ({self.detail})" if self.detail else ""
        return f"{verdict}: {self.name}: {self.value:.3g}{unit}, goal {sign} {self.limit:.3g}{told}"


Measure = Callable[[], Sequence[Goal]]
Recover = Callable[[], bool]


class StuckError(Exception):
    """The service did not come to rest after a measurement: nothing more can be measured on it."""


@dataclass
class Judge:
    """Judges goals, and prints one line for each."""

    say: Callable[[str], None] = print
    goals: list[Goal] = field(default_factory=list)

    def hold(self, measure: Measure, recover: Recover = lambda: True) -> None:
        """Measure, and again where a goal is missed; a goal counts as met if it is met once.

        `recover` waits before each repetition until the service has come to rest. Where it does
        not, the misses count, and `StuckError` is raised.
        """
        found = {goal.name: goal for goal in measure()}
        stuck = False
        for repeat in range(1, REPEATS + 1):
            missed = [goal for goal in found.values() if not goal.is_met]
            if not missed or (stuck := not recover()):
                break
            for goal in missed:
                self.say(f"  repeated ({repeat} of {REPEATS}): {goal}")
            again = {goal.name: goal for goal in measure()}
            found |= {goal.name: again.get(goal.name, goal) for goal in missed}
        self.count(found.values())
        if stuck:
            raise StuckError

    def count(self, goals: Iterable[Goal]) -> None:
        """Count goals as they are, and print each."""
        for goal in goals:
            self.say(str(goal))
            self.goals.append(goal)

    @property
    def missed(self) -> int:
        return sum(not goal.is_met for goal in self.goals)

    @property
    def broken(self) -> int:
        """The number of missed goals that no slow machine explains."""
        return sum(not (goal.is_met or goal.is_only_slow) for goal in self.goals)

    def __str__(self) -> str:
        return f"load: {len(self.goals)} goals, {self.missed} missed"


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not exceed; 0 of none."""
    if not values:
        return 0.0
    return sorted(values)[math.ceil(share * len(values)) - 1]
