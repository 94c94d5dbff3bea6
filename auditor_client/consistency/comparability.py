"""Comparability of receipts: the content, audience, bins and model that a test of consistency
needs.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from auditor_client.errors import InputError
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult

Relation = Literal["repeat", "same-people", "edited", "halves"]


def check_statements(audits: Sequence[ScoreHistogramResult], relation: Relation) -> None:
    """Refuse releases that are not related in the stated way."""
    if len(audits) < 2:
        raise InputError("A test of consistency needs at least two releases.", case="few-releases")
    wrong = {**dict(_of_any(audits)), **dict(_of_relation(audits, relation))}
    if wrong:
        raise InputError(
            f"These releases cannot be compared as {relation}: {'; '.join(wrong.values())}.",
            case=next(iter(wrong)),
        )


def list_notes(audits: Sequence[ScoreHistogramResult], relation: Relation) -> tuple[str, ...]:
    """Return sentences about other possible explanations of a difference."""
    times = sorted(audit.release.released_at for audit in audits)
    days = (times[-1] - times[0]).days
    notes = []
    if days >= 1:
        notes.append(
            f"{days} days lie between the releases: people's activity since then may change scores."
        )
    if relation == "edited":
        notes.append("A difference may also mean that the model reacts to the edit.")
    if relation == "same-people":
        notes.append(
            "The same people must have been uploaded each time. Receipts do not show this."
        )
    if relation == "halves":
        notes.append(
            "The halves must have been drawn at random from one list. Receipts do not show this."
        )
    return tuple(notes)


def _of_any(audits: Sequence[ScoreHistogramResult]) -> Iterator[tuple[str, str]]:
    """Yield the case and the words of each fault that does not depend on the relation."""
    first = audits[0]
    if len({audit.id for audit in audits}) < len(audits):
        yield "given-twice", "one release is given twice"
    if any(audit.release.bins != first.release.bins for audit in audits):
        yield "different-bins", "they have different bins"
    if any(set(audit.counts) != set(first.counts) for audit in audits):
        yield "different-groups", "they have different groups"


def _of_relation(
    audits: Sequence[ScoreHistogramResult], relation: Relation
) -> Iterator[tuple[str, str]]:
    contents = [tuple(audit.release.content_digests) for audit in audits]
    audiences = [audit.release.audience_commitment for audit in audits]
    if relation == "edited":
        if len(set(contents)) < len(contents):
            yield "not-edited", "a content was not edited"
    elif len(set(contents)) > 1:
        yield "different-contents", "they are of different contents"
    if relation in ("halves", "same-people"):
        if len(set(audiences)) < len(audiences):
            yield "same-audience", "two are of the same audience"
    elif len(set(audiences)) > 1:
        yield (
            "different-audiences",
            "they are of different audiences (an audience uploaded again is another one)",
        )
    elif _sizes_differ(audits):
        yield (
            "different-sizes",
            "the same audience is stated with different exact numbers of people",
        )


def _sizes_differ(audits: Sequence[ScoreHistogramResult]) -> bool:
    return any(audit.known_sizes != audits[0].known_sizes for audit in audits)
