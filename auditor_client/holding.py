"""Hold the platform to what was asked for and paid: per kind, a release must be of that."""

from collections.abc import Iterator, Sequence

from auditor_client.errors import ReceiptError
from auditor_client.receipts import AnyRelease, same_contents
from openapi.models import (
    Audit,
    BalanceHistogramRelease,
    BalanceHistogramRequest,
    Content,
    Edges,
    GroupBalances,
    GroupCdf,
    GroupHistogram,
    Levels,
    MatchCountRelease,
    MatchCountRequest,
    MostSkewedRelease,
    MostSkewedRequest,
    ScoreCdfRelease,
    ScoreCdfRequest,
    ScoreHistogramRelease,
    ScoreHistogramRequest,
    ShareEdges,
)

Bins = Edges | Levels | ShareEdges


def hold_to(
    release: AnyRelease,
    audit: Audit,
    contents: Sequence[Content],
    commitment: str | None,
    labels: Sequence[str] = (),
) -> None:
    """Refuse a release that is signed, but not of what was asked for and paid.

    Where this machine knows the audience's `commitment` and the `labels` of its groups, they count.
    """
    wrong = [
        *_differing(release, audit, contents, commitment),
        *_of_kind(release, audit),
        *_groups(release, labels),
    ]
    if wrong:
        raise ReceiptError(
            f"The receipt is signed, but of another {' and '.join(wrong)} than {audit.id} asked"
            " for. Keep it and tell the regulator."
        )


def _differing(
    release: AnyRelease, audit: Audit, contents: Sequence[Content], commitment: str | None
) -> Iterator[str]:
    if release.audit_id != audit.id:
        yield "audit"
    digests = [content.digest for content in contents]
    if digests != release.content_digests or not same_contents(release, contents):
        yield "content"
    if commitment is not None and release.audience_commitment != commitment:
        yield "audience"
    if release.price != audit.price:
        yield "price"


def _of_kind(release: AnyRelease, audit: Audit) -> Iterator[str]:
    match audit.request, release:
        case ScoreHistogramRequest() as asked, ScoreHistogramRelease() as made:
            if not _same_bins(made, asked.bins):
                yield "bins"
            if any(part.mechanism != asked.mechanism for part in made.price.parts):
                yield "mechanism"
        case (ScoreCdfRequest() as asked, ScoreCdfRelease() as made) | (
            BalanceHistogramRequest() as asked,
            BalanceHistogramRelease() as made,
        ):
            if not _same_bins(made, asked.bins):
                yield "bins"
        case MostSkewedRequest(), MostSkewedRelease() as made:
            if not _one_of_them(made):
                yield "choice"
        case MatchCountRequest(), MatchCountRelease():
            pass
        case _:
            yield "kind"


def _same_bins(
    release: ScoreHistogramRelease | ScoreCdfRelease | BalanceHistogramRelease, asked: Bins
) -> bool:
    return release.bins == asked and all(_fits(group, asked) for group in release.groups)


def _fits(group: GroupHistogram | GroupCdf | GroupBalances, bins: Bins) -> bool:
    """Whether there is a number for each bin (of running counts, one for everybody besides)."""
    number = len(bins.levels) if isinstance(bins, Levels) else len(bins.edges) - 1
    if isinstance(group, GroupCdf):
        return len(group.cumulative) == number + 1
    return len(group.counts) == number


def _one_of_them(release: MostSkewedRelease) -> bool:
    digests = release.content_digests
    return 0 <= release.chosen < len(digests) and release.chosen_digest == digests[release.chosen]


def _groups(release: AnyRelease, labels: Sequence[str]) -> Iterator[str]:
    """Every group once, in any order."""
    if isinstance(release, MostSkewedRelease):
        return
    found = [group.label for group in release.groups]
    if len(set(found)) != len(found) or (labels and set(found) != set(labels)):
        yield "set of groups"
