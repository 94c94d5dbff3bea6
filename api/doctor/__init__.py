"""The checks of `platform-auditor doctor`, which changes nothing."""

from collections.abc import Iterator

from api.doctor.database import DATABASE
from api.doctor.files import FILES
from api.doctor.keys import KEYS
from api.doctor.machine import MACHINE
from api.doctor.patient import Patient
from api.doctor.switches import SETTINGS
from api.findings import Check, Finding

# The database first: the others ask it.
CHECKS: tuple[Check[Patient], ...] = (*DATABASE, *FILES, *KEYS, *SETTINGS, *MACHINE)


def diagnose(patient: Patient) -> Iterator[Finding]:
    """Run every check; only the first one where there is no database."""
    for check in CHECKS:
        found = check(patient)
        yield found
        if check is CHECKS[0] and found.outcome == "failed":
            return


__all__ = ["CHECKS", "Patient", "diagnose"]
