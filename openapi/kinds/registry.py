"""Contracts of all kinds of audit by name: built-in kinds in their usual order, then others.

Packages add the others (`openapi.kinds.packages`). To add a built-in kind, list its module here and
in `privacy.plans.registry`. `api.kinds.registry` and `auditor_client.kinds.registry` follow.
"""

from collections.abc import Iterator, Mapping

from openapi.kinds import (
    balance_histogram,
    bias_size,
    envy_freeness,
    log_cdf,
    match_count,
    most_skewed,
    outcome_test,
    reo,
    score_cdf,
    score_histogram,
    two_party,
)
from openapi.kinds.contract import KindContract
from openapi.kinds.packages import CONTRACT_GROUP, PackageKinds

_MODULES = (
    score_histogram,
    score_cdf,
    match_count,
    most_skewed,
    balance_histogram,
    outcome_test,
    log_cdf,
    bias_size,
    reo,
    envy_freeness,
    two_party,
)
BUILT_IN: Mapping[str, KindContract] = {module.KIND.name: module.KIND for module in _MODULES}
# Default kind of mandates, commands and forms.
DEFAULT = score_histogram.KIND.name


class Contracts(Mapping[str, KindContract]):
    """Contracts by name of kind. Those of packages are imported at first use."""

    def __init__(self) -> None:
        self._added = PackageKinds(CONTRACT_GROUP, KindContract, BUILT_IN)

    def __getitem__(self, name: str) -> KindContract:
        """Return the contract of this name; raise `KeyError` if there is none."""
        found = BUILT_IN.get(name) or self._added.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, built-in kinds first."""
        yield from BUILT_IN
        yield from self._added

    def __len__(self) -> int:
        """Return the number of kinds."""
        return sum(1 for _ in self)


CONTRACTS: Mapping[str, KindContract] = Contracts()
