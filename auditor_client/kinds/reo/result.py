"""Equal opportunity at a platform (paper 4): noisy rows by traffic and group of creators."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.kinds.protocol import Result
from auditor_client.stats.noise_distributions import Gaussian, Laplace, Noise
from auditor_client.stats.noise_sums import sum_of_draws
from openapi.kinds import reo as contract
from openapi.resources import AuditKind, ReoRelease, ReoRequest, TrafficCounts

if TYPE_CHECKING:
    from auditor_client.reo import Monitoring, Penalty, PenaltyDifference, Stages

_ASKED = ("log", "signals", "creators", "strategies", "days", "rows_per_person")


@dataclass(frozen=True, repr=False)
class ReoResult(Result[ReoRelease]):
    """Rows, positive or not, of each strategy and day and of random traffic.

    At most `rows_per_person` rows of each viewer count, drawn at random from both traffics: shares
    are over viewers, not over rows. `group` is a group of the audience (default: all together).
    """

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: ReoRequest, made: ReoRelease) -> Iterator[str]:
        yield from (
            name.replace("_", " ") for name in _ASKED if getattr(asked, name) != getattr(made, name)
        )
        if made.creator_groups != asked.groups:
            yield "groups of creators"
        slots = len(asked.strategies) * max(len(asked.days), 1) + 1
        sides = [side for group in made.groups for one in group.traffics for side in _sides(one)]
        right = all(len(group.traffics) == slots for group in made.groups)
        if not right or any(len(side) != len(asked.groups) for side in sides):
            yield "number of counts"
        if any(part.mechanism != asked.mechanism for part in made.price.parts):
            yield "mechanism"

    @property
    def noise(self) -> Noise:
        """The distribution of the noise on each count."""
        stated = self.part("counts")
        if stated.mechanism == "discrete-gaussian":
            return Gaussian(stated.noise_scale**2)
        return Laplace(1 / stated.noise_scale)

    @property
    def error_95(self) -> int:
        """Error that each count alone exceeds with a probability of at most 5 %."""
        return self.part("counts").error_95

    def positives(
        self, strategy: str | None = None, day: str | None = None, group: str | None = None
    ) -> dict[str, int]:
        """Return noisy positives by group of creators (default: those of random traffic)."""
        return self._counts(strategy, day, group, ("positives",))

    def shown(
        self, strategy: str | None = None, day: str | None = None, group: str | None = None
    ) -> dict[str, int]:
        """Return noisy rows by group of creators."""
        return self._counts(strategy, day, group, ("positives", "negatives"))

    def penalty(
        self,
        strategy: str | None = None,
        day: str | None = None,
        group: str | None = None,
        delta: float = 0.05,
    ) -> "Penalty":
        """Return the penalty of a strategy (default: the first) on a day (default: all
        together).
        """
        from auditor_client.reo import penalty  # SciPy takes seconds to import

        name = strategy or self.release.strategies[0]
        return penalty(
            self.positives(name, day, group),
            self.positives(None, None, group),
            delta=delta,
            noise_recommended=self._noise(day, group),
            noise_random=self._noise("random", group),
            rows_per_viewer=self._rows(group),
        )

    def difference(
        self,
        treatment: str,
        control: str,
        day: str | None = None,
        group: str | None = None,
        delta: float = 0.05,
    ) -> "PenaltyDifference":
        """Return the difference of two strategies, both measured by the same random traffic."""
        from auditor_client.reo import difference

        return difference(
            self.positives(treatment, day, group),
            self.positives(control, day, group),
            self.positives(None, None, group),
            delta=delta,
            noise_treatment=self._noise(day, group),
            noise_control=self._noise(day, group),
            noise_random=self._noise("random", group),
            rows_per_viewer=self._rows(group),
        )

    def monitor(
        self, strategy: str | None = None, group: str | None = None, delta: float = 0.05
    ) -> "Monitoring":
        """Return the penalty of each day; days share delta."""
        from auditor_client.reo.monitoring import watch_penalties

        days = self.release.days
        if not days:
            raise InputError("This audit did not request separate days.", case="no-days")
        share = delta / len(days)
        return watch_penalties(
            {day: self.penalty(strategy, day, group, share) for day in days}, delta
        )

    def stages(
        self, recalled: str, strategy: str, group: str | None = None, delta: float = 0.05
    ) -> "Stages":
        """Return the stages recall and ranking, by the strategy that shows everything that passed
        recall.
        """
        from auditor_client.reo import stages

        noise = self._noise(None, group)
        return stages(
            self.positives(strategy, None, group),
            self.positives(recalled, None, group),
            self.positives(None, None, group),
            delta,
            noise_recommended=noise,
            noise_recalled=noise,
            noise_random=self._noise("random", group),
            rows_per_viewer=self._rows(group),
        )

    def parity(
        self, strategy: str | None = None, group: str | None = None, delta: float = 0.05
    ) -> "Penalty":
        """Return statistical parity: shown content compared with random traffic, which is
        uniform.
        """
        from auditor_client.reo import parity

        name = strategy or self.release.strategies[0]
        return parity(
            self.shown(name, None, group),
            self.shown(None, None, group),
            delta,
            sampled=True,
            noise_shown=sum_of_draws(self._noise(None, group), 2),
            noise_available=sum_of_draws(self._noise("random", group), 2),
            rows_per_viewer=self._rows(group),
        )

    def precision(self, strategy: str | None = None, delta: float = 0.05) -> "Penalty":
        """Return precision by group of viewers: the share of relevant content among the shown
        content.
        """
        from auditor_client.reo import precision

        name = strategy or self.release.strategies[0]
        groups = list(self._traffics())
        cells = len(self.release.creator_groups) * max(len(self.release.days), 1)
        return precision(
            {group: sum(self.positives(name, None, group).values()) for group in groups},
            {group: sum(self.shown(name, None, group).values()) for group in groups},
            delta,
            noise=sum_of_draws(self.noise, cells),
            rows_per_viewer=self.release.rows_per_person,
        )

    def table(self) -> pa.Table:
        """Return group of viewers, strategy, day, group of creators and noisy counts, one row
        each.
        """
        rows = [
            {"group": name, "strategy": one.strategy, "day": one.day, "creators": creators}
            | {"positives": positive, "negatives": negative}
            for name, traffics in self._traffics().items()
            for one in traffics
            for creators, positive, negative in zip(
                self.release.creator_groups, one.positives, one.negatives, strict=True
            )
        ]
        return pa.Table.from_pylist(rows)

    def numbers(self) -> dict[str, Any]:
        words = {name: self.penalty(name).explain() for name in self.release.strategies}
        return {**self.table().to_pydict(), "penalty": words, "error_95": self.error_95}

    def _counts(
        self, strategy: str | None, day: str | None, group: str | None, sides: tuple[str, ...]
    ) -> dict[str, int]:
        made = self.release
        if strategy is not None and strategy not in made.strategies:
            raise InputError(
                f"There is no strategy {strategy!r}. The strategies are: "
                f"{', '.join(made.strategies)}."
            )
        if day is not None and day not in made.days:
            raise InputError(f"There is no day {day!r}. The days are: {', '.join(made.days)}.")
        chosen = [
            one
            for traffics in self._chosen(group)
            for one in traffics
            if one.strategy == strategy and (day is None or one.day == day)
        ]
        total = np.sum([getattr(one, side) for one in chosen for side in sides], axis=0)
        return dict(zip(made.creator_groups, total.tolist(), strict=True))

    def _chosen(self, group: str | None) -> list[list[TrafficCounts]]:
        found = self._traffics()
        if group is not None and group not in found:
            raise InputError(f"There is no group {group!r}. The groups are: {', '.join(found)}.")
        return [traffics for name, traffics in found.items() if group in (None, name)]

    def _traffics(self) -> dict[str, list[TrafficCounts]]:
        return self.by_name({group.label: group.traffics for group in self.release.groups})

    def _noise(self, day: str | None, group: str | None) -> Noise:
        """Return the noise of a count summed over groups of viewers, and over days if none is
        chosen.
        """
        groups = 1 if group else len(self.release.groups)
        days = max(len(self.release.days), 1) if day is None else 1
        return sum_of_draws(self.noise, groups * days)

    def _rows(self, group: str | None) -> int:
        """Return the largest number of rows of one viewer; a viewer in several groups has them in
        each.
        """
        many = 1 if group else self.release.groups_per_person
        return self.release.rows_per_person * many


def _sides(one: TrafficCounts) -> tuple[list[int], list[int]]:
    return one.positives, one.negatives
