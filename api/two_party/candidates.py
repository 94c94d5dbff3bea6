"""Candidates of a hidden audience: everybody with such an identifier, up to a public size.

If there are more, a random sample of that size is drawn. Nobody outside sees that, or the number of
people (R2). If an audit failed for one person too many, it would reveal that person's presence. The
sample is the same for all runs on one charge, so that no interrupted run is a second draw. It
differs between audits, so that people whom one leaves out are covered by others.

Everybody has one position and every identifier one person (`privacy.two_party.joins`). So one
additional person changes at most two rows, which `RunTerms.bounds` counts. Once a run has begun to
read, later runs on its charge use the recorded people alone, without later members.
"""

import logging

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from api.audiences.parsing import tokens
from api.identity.key_encryption import decode
from api.kernel.settings import Settings
from api.platforms.directory import keep_usable
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Persons, Platform
from api.telemetry.metrics import LEFT_OUT, adapter_call
from privacy.two_party import CandidatePeople
from privacy.two_party.joins import DRAW_KEY_BYTES
from privacy.two_party.private_set_intersection import TOKEN

log = logging.getLogger(__name__)
_LABEL = b"platform-auditor/two-party-lot/v1/"


def load_candidates(
    platform: Platform,
    kind: str,
    size: int,
    audit_id: str,
    settings: Settings,
    recorded: Persons | None = None,
) -> CandidatePeople:
    """Return the platform's people with such an identifier.

    Log a warning if there are more than `size`.

    If a person has several identifiers, the first one counts. `recorded` restricts the people to
    these.
    """
    if platform.directory is None:
        raise PlatformDownError("The platform no longer has a directory.")
    try:
        with adapter_call("held"):
            listed, named = platform.directory.held(kind)
        persons, identifiers = keep_usable(kind, np.asarray(listed, np.int64), named)
        everybody = CandidatePeople(
            tokens(kind, identifiers), persons, _draw_key(settings, audit_id)
        )
    except Exception as error:  # an adapter may raise anything
        raise PlatformDownError("The platform does not list its people.") from error
    if beyond := everybody.beyond(size):
        LEFT_OUT.inc(beyond)
        log.warning("two-party.left-out", extra={"people": beyond, "places": size})
    return everybody if recorded is None else _among(everybody, recorded)


def _among(everybody: CandidatePeople, recorded: Persons) -> CandidatePeople:
    return _kept(everybody, np.flatnonzero(np.isin(everybody.persons, recorded)))


def _kept(everybody: CandidatePeople, rows: NDArray[np.intp]) -> CandidatePeople:
    kept = np.frombuffer(everybody.tokens, np.uint8).reshape(-1, TOKEN)[rows]
    return CandidatePeople(kept.tobytes(), everybody.persons[rows], everybody.draw_key)


def _draw_key(settings: Settings, audit_id: str) -> bytes:
    derive = HKDF(SHA256(), length=DRAW_KEY_BYTES, salt=None, info=_LABEL + audit_id.encode())
    return derive.derive(decode(settings.key_encryption_key))
