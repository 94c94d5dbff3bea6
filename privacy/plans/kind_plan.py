"""Plan of a kind of audit: everything that the ledger's verifier must know about it."""

from collections.abc import Callable
from dataclasses import dataclass

from privacy.plans.part import PlannedTable, PublicAudience, Request

Parts = Callable[[Request, PublicAudience], tuple[PlannedTable, ...]]


def _no(_request: Request) -> bool:
    return False


@dataclass(frozen=True)
class KindPlan:
    """Parts of a kind's releases, and the other statements of its charges.

    `others_in_rows`: whether a request reads rows that may be about other people. `hides_weights`:
    the platform cannot see the weights, so a regulator may open runs. `hidden_audiences`: the kind
    may be charged on people who are found, and debited, later. `explores`: people are shown other
    content, and may lose reward. `buys_sizes`: before format 3, its price also included the noisy
    sizes of groups.
    """

    kind: str
    parts: Parts
    others_in_rows: Callable[[Request], bool] = _no
    hides_weights: bool = False
    hidden_audiences: bool = False
    explores: bool = False
    buys_sizes: bool = False

    def __call__(self, request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
        """Return the parts of one request, by the public facts about its audience."""
        return self.parts(request, audience)


def every_request(_request: Request) -> bool:
    """Return True: every request of the kind reads rows."""
    return True
