"""Sums that a run returns, by group and cell, as numbers of people, with their noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor_client.errors import InputError
from auditor_client.stats import noise_distributions
from auditor_client.stats.noise_distributions import AnyNoise, Floats, NoNoise
from privacy.metric_values import Layout


@dataclass(frozen=True, eq=False)
class SoftGroupSums:
    """Noisy sums: `values[g, c]` is Σ weight · value over people, with independent noise of
    `variance`.

    Weights lie between 0 and 1, or else `weight_squares` has Σw² of each group over the upload.
    `events` is the largest number of events of one person; events of a person form a cluster.
    `layout` names the cells.
    """

    groups: tuple[str, ...]
    layout: Layout
    values: Floats
    variance: float = 0.0
    events: int = 1
    weight_squares: Floats | None = None

    def __post_init__(self) -> None:
        shape = (len(self.groups), len(self.layout.cells))
        if self.values.shape != shape:
            raise InputError(
                f"Sums of the shape {shape} are needed, not {self.values.shape}.",
                case="shape-of-the-sums",
            )

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        layout: Layout,
        sums: Any,
        weight_scale: int,
        noise: AnyNoise | None = None,
        events: int = 1,
        weight_squares: Floats | None = None,
    ) -> "SoftGroupSums":
        """Return sums from the integers of a release; `noise` is the distribution of the noise on
        each.
        """
        unit = weight_scale * layout.scale
        table = np.asarray(sums, object)
        # Python divides integers of any length exactly, up to the last bit of the quotient.
        values = np.array([[int(cell) / unit for cell in row] for row in table], np.float64)
        law = NoNoise() if noise is None else noise_distributions.distribution(noise)
        return cls(tuple(groups), layout, values, law.variance / unit**2, events, weight_squares)

    def cell(self, name: str) -> Floats:
        """Return one number for each group."""
        return np.asarray(self.values[:, self.layout.index(name)])

    def starting(self, prefix: str) -> Floats:
        """Return all cells whose names begin with this text, in order, with a row for each
        group.
        """
        chosen = [n for n, name in enumerate(self.layout.cells) if name.startswith(prefix)]
        return np.asarray(self.values[:, chosen])
