"""Conformance of adapters: their mistakes, in plain words.

Every check calls the adapter as the service would, with people that the adapter knows. Only counts
of its answers are printed, so the report may be sent to the adapter's author.
"""

from collections.abc import Iterator

from api.kernel.checks import Check, Finding
from api.platforms.conformance.http_transport import TRANSPORT
from api.platforms.conformance.logs import LOGS
from api.platforms.conformance.people import PEOPLE
from api.platforms.conformance.policies import POLICIES
from api.platforms.conformance.scores import SCORES
from api.platforms.conformance.subject import Subject, subject_of

CHECKS: tuple[Check[Subject], ...] = (
    *PEOPLE,
    *SCORES,
    *LOGS,
    *POLICIES,
    *TRANSPORT,
)


def examine(subject: Subject) -> Iterator[Finding]:
    """Yield the finding of each check, in order."""
    for check in CHECKS:
        yield check(subject)


__all__ = ["CHECKS", "Subject", "examine", "subject_of"]
