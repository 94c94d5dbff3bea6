"""Do receipts say what a test of consistency needs: which content, audience, bins and model?"""

from collections.abc import Iterator, Sequence
from typing import Literal

from auditor_client.errors import InputError
from auditor_client.kinds.score_histogram.result import FinishedAudit

Relation = Literal["repeat", "edited", "halves"]


def check_statements(audits: Sequence[FinishedAudit], relation: Relation) -> None:
    """Refuse releases that are not related in the way that was said."""
    if len(audits) < 2:
        raise InputError("Consistency needs at least two releases.")
    wrong = [*_of_any(audits), *_of_relation(audits, relation)]
    if wrong:
        raise InputError(f"These releases cannot be compared as {relation}: {'; '.join(wrong)}.")


def notes_on(audits: Sequence[FinishedAudit], relation: Relation) -> tuple[str, ...]:
    """What else may explain a difference, in words."""
    times = sorted(audit.release.released_at for audit in audits)
    days = (times[-1] - times[0]).days
    notes = []
    if days >= 1:
        notes.append(f"{days} days lie between them: what people did meanwhile may change scores.")
    if relation == "edited":
        notes.append("A difference may also mean that the edit matters to the model.")
    if relation == "halves":
        notes.append("The halves must have been drawn at random from one list.")
    return tuple(notes)


def _of_any(audits: Sequence[FinishedAudit]) -> Iterator[str]:
    first = audits[0]
    if len({audit.id for audit in audits}) < len(audits):
        yield "one release is given twice, and agrees with itself"
    if any(audit.release.bins != first.release.bins for audit in audits):
        yield "they have different bins"
    if any(set(audit.counts) != set(first.counts) for audit in audits):
        yield "they have different groups"


def _of_relation(audits: Sequence[FinishedAudit], relation: Relation) -> Iterator[str]:
    contents = [tuple(audit.release.content_digests) for audit in audits]
    audiences = [audit.release.audience_commitment for audit in audits]
    if relation == "edited":
        if len(set(contents)) < len(contents):
            yield "a content was not edited"
    elif len(set(contents)) > 1:
        yield "they are of different contents"
    if relation == "halves":
        if len(set(audiences)) < len(audiences):
            yield "two are of the same audience"
    elif len(set(audiences)) > 1:
        yield "they are of different audiences (an audience uploaded again is another one)"
    elif _sizes_differ(audits):
        yield "the same audience is stated with different exact numbers of people"


def _sizes_differ(audits: Sequence[FinishedAudit]) -> bool:
    return any(audit.known_sizes != audits[0].known_sizes for audit in audits)
