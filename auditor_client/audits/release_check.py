"""Check that a release matches the request that was paid.

This module compares the members that every release has. The class that reads a kind's release
compares that kind's own members.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from auditor_client.errors import ReceiptError
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import result_class
from auditor_client.local.saved_receipt import AnyRelease, same_contents
from openapi.resources import Audit, Content


def check_release_matches_request(
    release: AnyRelease,
    audit: Audit,
    contents: Sequence[Content],
    commitment: str | None,
    labels: Sequence[str] = (),
) -> None:
    """Refuse a signed release that does not match the paid request.

    If this machine knows the audience's `commitment` and its groups' `labels`, compare them too.
    """
    wrong = [
        *_mismatches(release, audit, contents, commitment),
        *_of_kind(release, audit),
        *_groups(release, labels),
    ]
    if wrong:
        raise ReceiptError(
            f"The receipt is signed, but it states another {' and '.join(wrong)} than "
            f"{audit.id} asked for. Keep the receipt and tell the regulator.",
            case="not-what-was-asked",
        )


def _mismatches(
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
    if release.kind != audit.request.kind:
        yield "kind"
    else:
        reader: type[Result[Any]] = result_class(release.kind)
        yield from reader.mismatches(audit.request, release)


def _groups(release: AnyRelease, labels: Sequence[str]) -> Iterator[str]:
    """Yield every group once, in any order."""
    if not hasattr(release, "groups"):
        return
    found = [group.label for group in release.groups]
    if len(set(found)) != len(found) or (labels and set(found) != set(labels)):
        yield "set of groups"
