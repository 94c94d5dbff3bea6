"""Auditor half of `share-above`: the result, and where its answer, chart and forecast are."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from auditor_client.kinds.auditor_kind import AuditorKind, OnFirstUse
from auditor_client.kinds.presentation import Tolerance
from auditor_client.kinds.protocol import Result
from share_above import contract
from share_above.contract import ShareAboveRelease


@dataclass(frozen=True, repr=False)
class ShareAboveResult(Result[ShareAboveRelease]):
    """Noisy shares of people above the threshold, by group."""

    kind: ClassVar[str] = contract.KIND.name

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Noisy numbers of people above the threshold and of all others, by name of group."""
        return self.by_name({each.label: (each.above, each.others) for each in self.release.groups})

    @property
    def noise_scale(self) -> float:
        """Scale of the noise on each number."""
        return self.part("counts").noise_scale

    def numbers(self) -> dict[str, Any]:
        return {"threshold": self.release.threshold, "counts": self.counts}

    def table(self) -> pa.Table:
        """Return group, people above and others, one row each."""
        rows = [
            {"group": name, "above": above, "others": others}
            for name, (above, others) in self.counts.items()
        ]
        types = {"group": pa.string(), "above": pa.int64(), "others": pa.int64()}
        return pa.Table.from_pylist(rows, pa.schema(types))


KIND = AuditorKind(
    contract.KIND,
    result=ShareAboveResult,
    summariser=OnFirstUse("share_above.answer", "summarise"),
    forecaster=OnFirstUse("share_above.answer", "forecast"),
    illustrator=OnFirstUse("share_above.answer", "illustrate"),
    tolerance=Tolerance(0.1, "Tolerated difference of shares"),
    least_groups=2,
)
