"""Two-party audits of a hidden audience: private set intersection, in which people displace others.

Each replica is two people for one place among the candidates: in one neighbour the first of them is
there, in the other they are gone and the second has their place. Each has a hidden group of their
own, so that both move the sums. Both parties run the protocol, with their own messages.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from api.kinds.registry import KINDS, AudienceFacts
from api.kinds.two_party import SUMS, terms_of
from openapi.resources import REQUEST, TwoPartyRequest
from privacy import waist
from privacy.two_party import CandidatePeople
from tests.privacy_audit import exchanged
from tests.privacy_audit.estimate import Samples

REPLICAS = 20
FACTS = AudienceFacts(
    ("g0",), 1, None, members=2 * REPLICAS, ordered=True, candidates=REPLICAS, fixed_slots=True
)
_TOKENS = [sha256(f"person{number}".encode()).digest() for number in range(2 * REPLICAS)]


def plan_of(request: Mapping[str, Any]) -> waist.ReleasePlan:
    return KINDS[exchanged.KIND].plan(REQUEST.validate_python(request), FACTS)


def statistics(request: Mapping[str, Any], runs: int) -> dict[str, tuple[Samples, Samples]]:
    """Samples of what the auditor decrypts: the first of every two people is there, or is not."""
    plan = plan_of(request)
    price, scale = waist.price(plan), plan[SUMS].scale
    both = [_exchanged(request, first) for first in (True, False)]
    sides: list[list[Samples]] = [[], []]
    for side, samples in zip(both, sides, strict=True):
        for _ in range(-(-runs // REPLICAS)):
            sums, _ = side.read(waist.release(plan, {SUMS: side.table}, paid=price)[SUMS])
            far = [np.abs(sums - other.sums).sum(axis=1) for other in both]
            pairs = (far[1] - far[0]).reshape(2, REPLICAS).sum(axis=0)
            samples.append(pairs / scale)
    one, other = (np.concatenate(samples) for samples in sides)
    return {"": (one, other)}


def _exchanged(request: Mapping[str, Any], first: bool) -> exchanged.Exchange:
    """One neighbour: everybody's first person is gone from it, or still has the place."""
    asked = REQUEST.validate_python(request)
    assert isinstance(asked, TwoPartyRequest)
    persons = np.arange(REPLICAS) + (0 if first else REPLICAS)
    tokens = b"".join(_TOKENS[person] for person in persons)
    weights = np.eye(2 * REPLICAS, dtype=np.int64) * asked.weight_scale
    return exchanged.run(
        asked,
        terms_of(asked, FACTS, "audit"),
        weights,
        CandidatePeople(tokens, persons),
        b"".join(_TOKENS),
    )
