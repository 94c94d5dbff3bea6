"""Two-party audits: the platform learns no group, the auditor learns no score.

The parties are state machines from bytes to bytes, without I/O and without their own noise. The
service uses `AuditorParty` and `PlatformParty`: the auditor has the weights and the key; the
platform has the values and makes the join. Every result passes through the waist.
docs/explanation/two-party.md compares every step with the paper's.

[OHB26] Osoba, He, Badrinarayanan et al., Productionized Fairness Measurement Under Privacy
        Constraints, arXiv:2606.27558 v1.
"""

from importlib.util import find_spec

if _missing := [name for name in ("rbcl", "seal") if find_spec(name) is None]:
    raise ImportError(
        f'two-party audits need {", ".join(_missing)}: pip install "platform-auditor[two-party]"'
    )

from privacy.tables.fixed_point import FixedPoint, weights_of
from privacy.two_party.auditor_party import AuditorParty
from privacy.two_party.joins import CandidatePeople, Uploaded
from privacy.two_party.messages import MAX_MESSAGE
from privacy.two_party.opening import Opening, OpeningFinding, open_transcript
from privacy.two_party.platform_party import PlatformParty
from privacy.two_party.sealed_boxes import opening_key_of, sealing_key_of
from privacy.two_party.sums import EncryptedTable, NoisySums
from privacy.two_party.terms import Entries, RunTerms

__all__ = [
    "MAX_MESSAGE",
    "AuditorParty",
    "CandidatePeople",
    "EncryptedTable",
    "Entries",
    "FixedPoint",
    "NoisySums",
    "Opening",
    "OpeningFinding",
    "PlatformParty",
    "RunTerms",
    "Uploaded",
    "open_transcript",
    "opening_key_of",
    "sealing_key_of",
    "weights_of",
]
