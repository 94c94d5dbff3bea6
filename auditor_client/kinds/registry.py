"""Registry of the auditor halves of all kinds: built-in kinds, and those of installed packages.

`openapi.kinds.registry` lists the built-in kinds for all packages; their halves are found by name.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, cast

from auditor_client.kinds.auditor_kind import AuditorKind
from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from auditor_client.kinds.bias_size.result import BiasSizeResult
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.match_count.result import MatchCountResult
from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.local.saved_receipt import unknown_kind
from openapi.kinds.packages import AUDITOR_GROUP, PackageKinds
from openapi.kinds.registry import BUILT_IN

OtherResult = (
    ScoreCdfResult
    | MatchCountResult
    | MostSkewedResult
    | BalanceHistogramResult
    | OutcomeTestResult
    | LogCdfResult
    | BiasSizeResult
    | ReoResult
    | EnvyFreenessResult
    | TwoPartyResult
)
AnyResult = ScoreHistogramResult | OtherResult


class AuditorKinds(Mapping[str, AuditorKind]):
    """Auditor halves by name of kind; each loads at first use."""

    def __getitem__(self, name: str) -> AuditorKind:
        """Return the kind of this name; raise `KeyError` if it is neither built in nor in a
        package.
        """
        found = _built_in(name) if name in BUILT_IN else _ADDED.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, built-in kinds first."""
        yield from BUILT_IN
        yield from _ADDED

    def __len__(self) -> int:
        """Return the number of kinds."""
        return sum(1 for _ in self)


AUDITOR_KINDS = AuditorKinds()


def auditor_kind(name: str) -> AuditorKind:
    """Return the auditor half of a kind; raise `InputError` if it is not installed."""
    try:
        return AUDITOR_KINDS[name]
    except KeyError as error:
        raise unknown_kind(name, AUDITOR_KINDS) from error


def result_class(name: str) -> type[AnyResult]:
    """Return the class that reads releases of a kind; raise `InputError` if it is not
    installed.
    """
    return cast("type[AnyResult]", auditor_kind(name).result)


def kind_of(result: Result[Any]) -> AuditorKind:
    """Return the auditor half of a result's kind."""
    return auditor_kind(result.kind)


@lru_cache(maxsize=256)
def _built_in(name: str) -> AuditorKind:
    found: AuditorKind = import_module(f"auditor_client.kinds.{BUILT_IN[name].module}").KIND
    return found


_ADDED = PackageKinds(AUDITOR_GROUP, AuditorKind, BUILT_IN)
