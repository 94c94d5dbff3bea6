"""Checks of `platform-auditor doctor`, which changes nothing."""

from collections.abc import Iterator

from api.kernel.checks import Check, Finding
from api.operations.doctor.database import DATABASE
from api.operations.doctor.files import FILES
from api.operations.doctor.host import MACHINE
from api.operations.doctor.keys import KEYS
from api.operations.doctor.subject import DoctorSubject
from api.operations.doctor.switches import SETTINGS

# The database comes first, because the others need it.
CHECKS: tuple[Check[DoctorSubject], ...] = (*DATABASE, *FILES, *KEYS, *SETTINGS, *MACHINE)


def diagnose(subject: DoctorSubject) -> Iterator[Finding]:
    """Run every check; without a database, only the first one."""
    for check in CHECKS:
        found = check(subject)
        yield found
        if check is CHECKS[0] and found.outcome == "failed":
            return


__all__ = ["CHECKS", "DoctorSubject", "diagnose"]
