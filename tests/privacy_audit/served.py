"""Cases that go through the service itself: charges that are refunded, and requests sent again.

Each run charges an audit and cancels it, charges it again, and sends the same request once more
before and after it is released. The adversary sees every answer. What it may cost is what the
mandate has spent: a refund that gives back too much, or a second draw, is more than that.

There is a replica of the person in each of a hundred groups, with noise of its own.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.audiences.client import NamedAudience
from openapi.resources import MatchCountRelease
from tests.privacy_audit.estimate import Samples
from tests.privacy_audit.neighbours import SmallPlatform, World
from tests.world import Deployment, deployed, sqlite_url

REPLICAS = 100
EPSILON = 1
_NAMES = [f"person{number}" for number in range(REPLICAS)]


def statistics(runs: int) -> tuple[dict[str, tuple[Samples, Samples]], float]:
    """Samples on both neighbours, and what the costlier one spent on a run, under add/remove."""
    sides, spent = list[Samples](), list[float]()
    for there in (True, False):
        counts, debit = _released(there, -(-runs // REPLICAS))
        # The scale is 1 / epsilon, and one replica moves one count by one.
        sides.append(EPSILON * (np.abs(counts) - np.abs(counts - 1)).ravel()[:runs])
        spent.append(debit)
    # A mandate pays for a change, which is twice as much.
    return {"": (sides[0], sides[1])}, max(spent) / 2


def _released(there: bool, runs: int) -> tuple[Samples, float]:
    """Noisy counts, run by run, and the debit of one run."""
    holders = {f"username:{name}": who for who, name in enumerate(_NAMES)} if there else {}
    platform = World(SmallPlatform(holders, {}), []).platform
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder), platform) as deployment:
        auditor = deployment.auditor(str(10 * runs), kinds=["match-count"])
        table = pa.table({"username": _NAMES, "group": [f"{n:03}" for n in range(REPLICAS)]})
        audience = auditor.audiences.upload(table, "username", "group", progress=False)
        counts = [_counts(deployment, auditor, audience) for _ in range(runs)]
        [mandate] = auditor.budget().mandates
        return np.array(counts, float), float(mandate.spent) / runs


def _service(folder: Path, platform: Platform) -> Any:
    return deployed(sqlite_url(folder), platform, embedded_worker=False)


def _counts(deployment: Deployment, auditor: Auditor, audience: NamedAudience) -> list[int]:
    """One run: charged and refunded, charged again, and asked for again and again."""
    request = auditor.audits.requests.match_count(audience, epsilon=EPSILON)
    refunded = auditor.audits.submit(request)
    auditor.audits.cancel(refunded.id)
    key = f"{refunded.id}-again"
    audits = [auditor.audits.submit(request, key) for _ in range(2)]
    deployment.service.worker().run_one()
    audits.append(auditor.audits.submit(request, key))
    seen = [_of(auditor.audits.result(audit.id).release) for audit in audits]
    # An adversary who saw two draws would take their mean: then noise is narrower than is claimed.
    return [round(float(mean)) for mean in np.mean(seen, axis=0)]


def _of(release: Any) -> list[int]:
    assert isinstance(release, MatchCountRelease)
    return [group.count for group in release.groups]
