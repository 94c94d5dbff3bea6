"""Two-party audits from the auditor's chair: sums are decrypted, and the noise in them is read too.

Each group has a replica of the person, whose row has weight in that group alone. The exchange is
made once for each neighbour, by both parties and their own messages; what the waist makes of the
encrypted table is then drawn again and again, and decrypted with the auditor's key.

The key tells two things of a ciphertext: the sum, which has the noise that is paid for, and the
noise of encryption, by which the platform's values would shine through if it were not flooded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from nacl.public import PrivateKey
from numpy.typing import NDArray

from api.kinds.registry import KINDS, AudienceFacts
from api.kinds.two_party import SUMS, terms_of, values_of
from openapi.resources import REQUEST, TwoPartyRequest
from privacy import waist
from privacy.two_party import (
    AuditorParty,
    CandidatePeople,
    EncryptedTable,
    NoisySums,
    PlatformParty,
    RunTerms,
    Uploaded,
)
from privacy.two_party.keys import SecretKey
from privacy.two_party.residues import combine_residues
from tests.privacy_audit.estimate import Samples
from tests.privacy_audit.neighbours import SmallPlatform, World

KIND = "two-party"
REPLICAS = 50
FACTS = AudienceFacts(("g0",), 1, None, members=REPLICAS, ordered=True)


@dataclass(frozen=True)
class Exchange:
    """One neighbour: its encrypted table, the key to it, and what is in it."""

    table: EncryptedTable
    keys: list[SecretKey]
    sums: NDArray[np.int64]

    def read(self, noisy: NoisySums) -> tuple[NDArray[np.int64], Samples]:
        """The sums of every group, and the noise of their encryption."""
        moduli = [key.ring.modulus for key in self.keys]
        found, noise = [], []
        for words in noisy.words:
            both = [key.read(one) for key, one in zip(self.keys, words, strict=True)]
            found.append(combine_residues([message for message, _ in both], moduli))
            noise.append(float(both[0][1]))
        shape = self.sums.shape
        return np.array(found, np.int64).reshape(shape), np.array(noise).reshape(shape)


def plan_of(request: Mapping[str, Any]) -> waist.ReleasePlan:
    return KINDS[KIND].plan(REQUEST.validate_python(request), FACTS)


def statistics(request: Mapping[str, Any], runs: int) -> dict[str, tuple[Samples, Samples]]:
    """All are there, or nobody is: samples of what the auditor sees, by what was looked at."""
    plan, both = plan_of(request), [exchanged(request, there) for there in (True, False)]
    price, scale = waist.price(plan), plan[SUMS].scale
    looks: list[dict[str, list[Samples]]] = [{"": [], ", ciphertexts": []} for _ in both]
    for side, look in zip(both, looks, strict=True):
        for _ in range(-(-runs // REPLICAS)):
            noisy = waist.release(plan, {SUMS: side.table}, paid=price)[SUMS]
            sums, noise = side.read(noisy)
            far = [np.abs(sums - other.sums).sum(axis=1) for other in both]
            look[""].append((far[1] - far[0]) / scale)
            look[", ciphertexts"].append(np.abs(noise).max(axis=1))
    one, other = looks
    return {name: (np.concatenate(one[name]), np.concatenate(other[name])) for name in one}


def exchanged(request: Mapping[str, Any], there: bool) -> Exchange:
    asked = REQUEST.validate_python(request)
    assert isinstance(asked, TwoPartyRequest)
    terms = terms_of(asked, FACTS, "audit")
    persons = np.arange(REPLICAS) if there else np.full(REPLICAS, -1)
    weights = np.eye(REPLICAS, asked.hidden_groups, dtype=np.int64) * asked.weight_scale
    return run(asked, terms, weights, Uploaded(persons))


def run(
    asked: TwoPartyRequest,
    terms: RunTerms,
    weights: NDArray[np.int64],
    join: Uploaded | CandidatePeople,
    tokens: bytes | None = None,
) -> Exchange:
    """Exchange all messages between both parties, and keep the encrypted table."""
    kept = list[EncryptedTable]()
    values = values_of(asked, [{"title": ""}], World(SmallPlatform({}, {}), []).platform)

    def release(table: EncryptedTable) -> NoisySums:
        kept.append(table)
        return table.plus(np.zeros(table.bounds.shape, np.int64))

    key = bytes(PrivateKey.generate().public_key)
    auditor = AuditorParty(terms, weights, regulator_key=key, tokens=tokens)
    keys = list(auditor._keys)
    platform = PlatformParty(terms, join, values, release)
    message: bytes | None = auditor.start()
    while message is not None:
        message = auditor.receive(platform.receive(message))
    return Exchange(kept[0], keys, auditor.sums.astype(np.int64))
