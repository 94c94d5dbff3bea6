"""Outcome tests (paper 3): outcomes of equally scored people of each group."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from auditor_client.kinds.protocol import Result
from auditor_client.stats.noise_distributions import Gaussian, Laplace, Noise
from auditor_client.stats.outcome_moments import NAMES, OutcomeMoments
from openapi.kinds import outcome_test as contract
from openapi.resources import AuditKind, MechanismName, OutcomeTestRelease, OutcomeTestRequest

if TYPE_CHECKING:
    from auditor_client.outcome.outcome_test import Tested

# Number of steps in which the scale of the noise is stated: finer than a tail probability can
# resolve.
_STEPS = 10_000.0
_ASKED = ("log", "bins", "outcome_range", "rows_per_person")


@dataclass(frozen=True, repr=False)
class OutcomeTestResult(Result[OutcomeTestRelease]):
    """Noisy sums over logged opportunities, by group and bin of the score.

    At most `rows_per_person` rows of each person count, drawn at random: averages are over people,
    not over rows.
    """

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: OutcomeTestRequest, made: OutcomeTestRelease) -> Iterator[str]:
        yield from (
            name.replace("_", " ") for name in _ASKED if getattr(asked, name) != getattr(made, name)
        )
        number = len(asked.bins.edges) - 1
        if any(len(getattr(group, name)) != number for group in made.groups for name in NAMES):
            yield "number of sums"
        if any(part.mechanism != asked.mechanism for part in made.price.parts):
            yield "mechanism"

    @property
    def moments(self) -> OutcomeMoments:
        """Return the moments for `auditor_client.outcome.test`."""
        made, stated = self.release, self.part("moments")
        units = np.array([getattr(made.units, name) for name in NAMES], np.float64)
        # Noise of many units is nearly continuous, so it is stated in coarser steps.
        coarse = max(1.0, stated.noise_scale / _STEPS)
        named = self.by_name({group.label: group for group in made.groups})
        sums = [
            [np.asarray(getattr(group, name), np.float64) for name in NAMES]
            for group in named.values()
        ]
        return OutcomeMoments(
            groups=tuple(named),
            edges=tuple(made.bins.edges),
            outcome_range=(made.outcome_range.low, made.outcome_range.high),
            sums=np.moveaxis(np.asarray(sums), 1, 2) / units,
            rows_per_person=made.rows_per_person,
            noise=_law(stated.mechanism, stated.noise_scale / coarse),
            units=tuple((units / coarse).tolist()),
        )

    def test(self, **options: Any) -> "Tested":
        """Test whether equally scored people have equal outcomes: see `auditor_client.outcome`."""
        from auditor_client.outcome import test  # SciPy takes seconds to import

        return test(self.moments, **options)

    def table(self) -> pa.Table:
        """Return group, edges of the bin, noisy number of rows and mean outcome, one row each."""
        moments = self.moments
        rows = []
        for name, sums in zip(moments.groups, moments.sums, strict=True):
            for number, (count, outcome, *_) in enumerate(sums.tolist()):
                low, high = moments.limits(number)
                mean = float(moments.outcome(outcome / count)) if count > 0 else None
                rows.append(
                    {"group": name, "low": low, "high": high, "count": count, "outcome": mean}
                )
        numbers = {name: pa.float64() for name in ("low", "high", "count", "outcome")}
        return pa.Table.from_pylist(rows, pa.schema({"group": pa.string(), **numbers}))

    def numbers(self) -> dict[str, Any]:
        columns = self.table().to_pydict()
        return {**columns, "error_95": self.error_95}

    @property
    def error_95(self) -> float:
        """Error that each number of rows alone exceeds with a probability of at most 5 %."""
        return self.part("moments").error_95 / self.release.units.count


def _law(mechanism: MechanismName, scale: float) -> Noise:
    return Gaussian(scale**2) if mechanism == "discrete-gaussian" else Laplace(1 / scale)
