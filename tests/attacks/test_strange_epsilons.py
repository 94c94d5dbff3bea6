"""Epsilons that are no epsilons: negative, huge, tiny, infinite, not a number, not numbers."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from api.kernel.clock import now
from api.kinds.registry import KINDS, AudienceFacts
from api.mandates import budgets
from api.mandates.budgets import Debit
from openapi.resources import ScoreHistogramRequest
from platform_sim import World
from privacy import waist
from tests.attacks.outside import HISTOGRAM
from tests.mandates import mandate_of
from tests.privacy_audit.cases import ONE_BIN
from tests.system.raw import Raw, raw, refused, request_for, unchanged, usernames
from tests.world import Deployment

STRANGE: list[object] = [
    "-1", -1, "-0.000001", "0", 0, -0.0, "-0",
    "11", "10.000001", 1e300, "1e300", "9" * 400,
    "1e-300", 1e-300, "0.0000001", "1e-7", 5e-324,
    "NaN", "nan", "sNaN", "-NaN", "Infinity", "-Infinity", "inf", "1e999999999",
    "", " ", "one", "1/2", "0x1", "1_0_0", None, True, [], [1], {}, {"value": 1},
]  # fmt: skip


@pytest.fixture(scope="module")
def me(target: Deployment) -> Raw:
    every = ["score-histogram", "score-cdf", "match-count", "most-skewed"]
    return raw(target, target.auditor(epsilon="20", kinds=every))


@pytest.fixture(scope="module")
def bodies(me: Raw, world: World) -> list[dict[str, Any]]:
    """A good request of every kind, and the field to spoil."""
    names, content = usernames(world, 10), me.content()
    audience = me.audience({"g0": names[:5], "g1": names[5:]})
    ids = {"audience_id": audience["id"], "epsilon": "0.01"}
    histogram = request_for(content, audience, kind=HISTOGRAM, epsilon="0.01")
    bins = {"bins": histogram["bins"]}
    return [
        histogram,
        {"kind": "score-cdf", "content_id": content["id"], **bins, **ids},
        {"kind": "match-count", **ids},
        {"kind": "most-skewed", "contents": [content["id"]] * 2, **bins, **ids},
    ]


@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: repr(value)[:20])
def test_a_strange_epsilon_is_refused_and_changes_nothing(
    target: Deployment, me: Raw, bodies: list[dict[str, Any]], strange: object
) -> None:
    with unchanged(target.service.store):
        for body in bodies:
            for path in ("/v1/audits", "/v1/audits/price"):
                asked = body | {"epsilon": strange}
                headers = me.signed("/v1/audits", asked)
                answer = me.post(path, asked, headers=headers)
                refused(answer, "invalid-request", "charged")


@pytest.mark.parametrize("body", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400"])
def test_numbers_that_json_does_not_have_are_refused(
    target: Deployment, me: Raw, bodies: list[dict[str, Any]], body: bytes
) -> None:
    ids = f'"audience_id": "{bodies[2]["audience_id"]}", "kind": "match-count"'.encode()
    text = b"{" + ids + b', "epsilon": ' + body + b"}"
    headers = me.signed("/v1/audits", None) | {"content-type": "application/json"}
    with unchanged(target.service.store):
        answer = me.call("POST", "/v1/audits", content=text, headers=headers)
        assert answer.status_code in (400, 422), answer.text


@pytest.mark.parametrize("field", ["size_epsilon", "rho", "size_rho"])
@pytest.mark.parametrize("strange", ["-1", "NaN", "11", "1e-300", "Infinity"])
def test_nor_are_the_other_amounts(
    target: Deployment, me: Raw, bodies: list[dict[str, Any]], field: str, strange: str
) -> None:
    with unchanged(target.service.store):
        refused(me.submit(bodies[0] | {field: strange}), "invalid-request", "charged")


class Trusting(ScoreHistogramRequest):
    """The twin: an epsilon is any decimal."""

    epsilon: Decimal | None = None


def test_a_negative_epsilon_would_fill_the_budget() -> None:
    request = Trusting.model_validate(ONE_BIN | {"epsilon": "-1", "size_epsilon": "0"})
    plan = KINDS[HISTOGRAM].plan(request, AudienceFacts(("g0",), 1, None))
    with mandate_of(Fraction(2)) as (session, mandate):
        debit = Fraction(waist.price(plan).debit("epsilon"))
        budgets.debit(session, [Debit(mandate, debit)], now())
        assert mandate.limit - mandate.spent == 4


def test_a_tiny_epsilon_would_cost_nothing_in_floating_point() -> None:
    """The twin adds up floats: 1 + 1e-17 is 1, for ever. Ours adds exactly."""
    spent = 1.0
    for _ in range(1000):
        spent += 1e-17
    assert spent == 1.0
    with mandate_of(Fraction(1)) as (session, mandate):
        for _ in range(1000):
            budgets.debit(session, [Debit(mandate, Fraction(1, 10**6))], now())
        assert mandate.spent == Fraction(1, 1000)
