"""Whether a deployment is well: `platform-auditor doctor`. It changes nothing."""

from collections.abc import Iterator

from api.doctor.database import DATABASE
from api.doctor.keys import KEYS
from api.doctor.machine import MACHINE
from api.doctor.patient import Patient
from api.findings import Check, Finding

# The database first: the others ask it.
CHECKS: tuple[Check[Patient], ...] = (*DATABASE, *KEYS, *MACHINE)


def diagnose(patient: Patient) -> Iterator[Finding]:
    """What every check finds; no more than the first where there is no database."""
    for check in CHECKS:
        found = check(patient)
        yield found
        if check is CHECKS[0] and found.outcome == "wrong":
            return


__all__ = ["CHECKS", "Patient", "diagnose"]
