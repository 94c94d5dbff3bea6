"""A release that is signed, but not of what was asked for: one way to be wrong each."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from auditor_client import ReceiptError
from auditor_client.audits.release_check import check_release_matches_request
from auditor_client.local.saved_receipt import AnyRelease
from openapi.resources import (
    AuditRequest,
    Content,
    Edges,
    MatchCountRequest,
    MostSkewedRequest,
    ScoreCdfRequest,
    ScoreHistogramRequest,
)
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    CONTENT_ID,
    OTHER_ID,
    audit_for,
    cdf_release,
    content,
    match_count_release,
    most_skewed_release,
    platform_key,
    price,
    release,
)
from tests.refusals import refuses

KEY = platform_key()
HALVES = Edges(edges=[0, 0.5, 1])
BOTH = [content(), content("Nurse", OTHER_ID)]
COMMITMENT = "sha256:" + "1" * 64

HISTOGRAM = ScoreHistogramRequest(
    content_id=CONTENT_ID, audience_id=AUDIENCE_ID, bins=HALVES, epsilon=Decimal(1)
)
CDF = ScoreCdfRequest(
    kind="score-cdf",
    content_id=CONTENT_ID,
    audience_id=AUDIENCE_ID,
    bins=HALVES,
    epsilon=Decimal(1),
)
MATCH_COUNT = MatchCountRequest(kind="match-count", audience_id=AUDIENCE_ID, epsilon=Decimal(1))
MOST_SKEWED = MostSkewedRequest(
    kind="most-skewed",
    contents=[CONTENT_ID, OTHER_ID],
    audience_id=AUDIENCE_ID,
    bins=HALVES,
    epsilon=Decimal(1),
)

Make = Callable[[OKPKey], AnyRelease]
RIGHT: list[tuple[AuditRequest, Make, list[Content]]] = [
    (HISTOGRAM, lambda key: release(key, {"g0": [1, 2, 0], "g1": [2, 1, 0]}), BOTH[:1]),
    (CDF, lambda key: cdf_release(key, {"g0": [1, 2, 3], "g1": [0, 1, 2]}), BOTH[:1]),
    (MATCH_COUNT, lambda key: match_count_release(key, {"g0": 3, "g1": 4}), []),
    (MOST_SKEWED, lambda key: most_skewed_release(key, BOTH, 1), BOTH),
]


@pytest.mark.parametrize(("request_", "make", "contents"), RIGHT)
def test_a_release_of_what_was_asked_for_passes(
    request_: AuditRequest, make: Make, contents: list[Content]
) -> None:
    made = make(KEY)
    check_release_matches_request(
        made, audit_for(request_, made.price), contents, COMMITMENT, ["g0", "g1"]
    )


@pytest.mark.parametrize(("request_", "make", "contents"), RIGHT)
@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"audit_id": "audit_" + "0" * 30}, "audit"),
        ({"content_digests": ["sha256:" + "8" * 64]}, "content"),
        ({"audience_commitment": "sha256:" + "9" * 64}, "audience"),
        ({"price": price(7.0)}, "price"),
    ],
)
def test_every_kind_is_held_to_the_same_facts(
    request_: AuditRequest,
    make: Make,
    contents: list[Content],
    changed: dict[str, Any],
    named: str,
) -> None:
    made = make(KEY)
    audit = audit_for(request_, made.price)
    with refuses(ReceiptError, "not-what-was-asked", named):
        check_release_matches_request(made.model_copy(update=changed), audit, contents, COMMITMENT)


@pytest.mark.parametrize("asked", [HISTOGRAM, CDF, MATCH_COUNT, MOST_SKEWED])
def test_a_release_of_another_kind_is_caught(asked: AuditRequest) -> None:
    for request, make, contents in RIGHT:
        made = make(KEY)
        if request.kind != asked.kind:
            with refuses(ReceiptError, "not-what-was-asked", "kind"):
                check_release_matches_request(made, audit_for(asked, made.price), contents, None)


@pytest.mark.parametrize(
    ("asked", "make", "named"),
    [
        (HISTOGRAM, lambda key: release(key, {"g0": [1, 2, 3, 0], "g1": [0, 0, 0, 0]}), "bins"),
        (HISTOGRAM, lambda key: release(key, {"g0": [1, 2, 3, 0]}, bins=HALVES), "bins"),
        (CDF, lambda key: cdf_release(key, {"g0": [1, 2, 3, 4]}), "bins"),
        (
            HISTOGRAM,
            lambda key: release(key, {"g0": [1, 2, 0]}, paid=price(1.0, 4.0, "discrete-gaussian")),
            "mechanism",
        ),
    ],
)
def test_other_bins_and_other_noise_are_caught(asked: AuditRequest, make: Make, named: str) -> None:
    made = make(KEY)
    with refuses(ReceiptError, "not-what-was-asked", named):
        check_release_matches_request(made, audit_for(asked, made.price), BOTH[:1], None)


@pytest.mark.parametrize("chosen", [-1, 2])
def test_a_choice_that_was_not_asked_about_is_caught(chosen: int) -> None:
    made = most_skewed_release(KEY, BOTH, chosen, BOTH[1].digest)
    with refuses(ReceiptError, "not-what-was-asked", "choice"):
        check_release_matches_request(made, audit_for(MOST_SKEWED, made.price), BOTH, None)


def test_a_choice_under_another_digest_is_caught() -> None:
    made = most_skewed_release(KEY, BOTH, 0, BOTH[1].digest)
    with refuses(ReceiptError, "not-what-was-asked", "choice"):
        check_release_matches_request(made, audit_for(MOST_SKEWED, made.price), BOTH, None)


@pytest.mark.parametrize("labels", [["g0"], ["g0", "g1", "g2"]])
def test_groups_that_were_not_uploaded_are_caught(labels: list[str]) -> None:
    made = match_count_release(KEY, {"g0": 3, "g1": 4})
    with refuses(ReceiptError, "not-what-was-asked", "groups"):
        check_release_matches_request(made, audit_for(MATCH_COUNT, made.price), [], None, labels)


def test_a_group_that_comes_twice_is_caught() -> None:
    made = match_count_release(KEY, {"g0": 3})
    twice = made.model_copy(update={"groups": made.groups * 2})
    with refuses(ReceiptError, "not-what-was-asked", "groups"):
        check_release_matches_request(twice, audit_for(MATCH_COUNT, made.price), [], None)
