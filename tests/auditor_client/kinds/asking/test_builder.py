"""Requests of every kind from what people say, in Python or as text."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from auditor_client.errors import InputError
from auditor_client.kinds.asking.builder import build_request
from auditor_client.kinds.registry import auditor_kind
from openapi.kinds.parameters import parameters_of
from openapi.kinds.registry import CONTRACTS
from openapi.resources import Audience, Catalogue, Edges, Levels
from tests.auditor_client.audiences.test_client import CATALOGUE
from tests.auditor_client.examples import AUDIENCE_ID, CONTENT_ID, OTHER_ID, content
from tests.refusals import refuses

LOG: dict[str, Any] = {
    "name": "feed",
    "person": "viewer",
    "numbers": [
        {"name": "score", "low": 0, "high": 2},
        {"name": "outcome", "low": -1, "high": 1},
    ],
    "words": [
        {"name": "young", "values": ["yes", "no"]},
        {"name": "strategy", "values": ["default", "random"]},
        {"name": "day", "values": ["mon", "tue"]},
    ],
    "model_digest": None,
    "traffic": {
        "strategy": "strategy",
        "random": "random",
        "signals": ["like", "share"],
        "creators": ["young"],
        "day": "day",
    },
}


class PublicFacts:
    """Public facts that are known without a service."""

    def catalogue(self) -> Catalogue:
        return Catalogue.model_validate({**CATALOGUE, "logs": [LOG]})

    def audience(self, audience_id: str) -> Audience:
        raise AssertionError(audience_id)

    def names(self, _: str) -> Mapping[str, str]:
        return {}

    def result(self, audit_id: str) -> Any:
        raise AssertionError(audit_id)


def built(kind: str, **said: Any) -> Any:
    half = auditor_kind(kind)
    return build_request(
        half.contract, half.asking, {"audience": AUDIENCE_ID, **said}, PublicFacts()
    )


def test_a_request_takes_things_or_their_identifiers() -> None:
    one = built("score-histogram", content=CONTENT_ID, bins=3, epsilon="0.5")
    assert one == built("score-histogram", content=content(), bins="3", epsilon=0.5)
    assert (one.epsilon, one.size_epsilon, one.context) == (Decimal("0.5"), None, {})


def test_bins_are_a_number_edges_or_levels_over_the_right_range() -> None:
    assert built("match-count").epsilon == 1
    scores = built("score-histogram", content=CONTENT_ID, bins="0,0.5,1")
    assert scores.bins == Edges(edges=[0, 0.5, 1])
    assert built("most-skewed", contents=f"{CONTENT_ID},{OTHER_ID}", levels="1,2").bins == Levels(
        levels=[1, 2]
    )
    assert built("balance-histogram", bins=2).bins.edges == [0, 0.5, 1]
    assert built("log-cdf", log="feed", bins=2).bins.edges == [0, 1, 2]
    test = built("outcome-test", log="feed", bins=4)
    assert test.bins.edges == [0, 0.5, 1, 1.5, 2]
    assert (test.outcome_range.low, test.outcome_range.high) == (-1, 1)


def test_words_of_a_log_are_all_of_them_by_default() -> None:
    made = built("reo", log="feed", creators="young")
    assert (made.signals, made.groups, made.strategies, made.days) == (
        ["like", "share"],
        ["yes", "no"],
        ["default"],
        [],
    )
    assert built("reo", log="feed", creators="young", days="all").days == ["mon", "tue"]
    assert built("reo", log="feed", creators="young", signals="like").signals == ["like"]


def test_rows_and_context_are_read_as_typed() -> None:
    typed = built("log-cdf", log="feed", where=["young=yes,no", "day=mon"], rows_per_person="3")
    assert typed.where == {"young": ["yes", "no"], "day": ["mon"]}
    assert typed == built(
        "log-cdf", log="feed", where="young: yes, no\nday: mon", rows_per_person=3
    )
    made = built("score-cdf", content=CONTENT_ID, context=["hour=21", "day=mon"])
    assert made.context == {"hour": 21.0, "day": "mon"}


def test_gaussian_noise_takes_rho_in_place_of_epsilon() -> None:
    asked = {"content": CONTENT_ID, "bins": 3, "rho": 0.5}
    made = built("score-histogram", **asked)
    assert (made.mechanism, made.epsilon, made.rho) == ("discrete-gaussian", None, Decimal("0.5"))
    assert built("score-histogram", **asked, size_rho=0).size_rho == 0


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"rho": 1, "mechanism": "discrete-laplace"}, "discrete-laplace.*epsilon.*size_epsilon"),
        ({"mechanism": "discrete-gaussian"}, r"discrete-gaussian.*\brho\b"),
        ({"rho": 1, "size_epsilon": 1}, r"discrete-gaussian.*\brho\b.*size_rho"),
        ({"rho": "1e-7"}, r"1e-7.*\brho\b"),
        ({"mechanism": "uniform"}, "mechanism.*discrete-gaussian"),
        ({"epsilon": 11}, "epsilon.*at most 10"),
        ({"epsilon": 0}, "epsilon.*greater than 0"),
        ({"context": ["hour"]}, "hour"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(said: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named) as caught:
        built("score-histogram", content=CONTENT_ID, **said)
    assert "Input should" not in str(caught.value)
    assert "Value error" not in str(caught.value)


def test_what_a_kind_does_not_have_and_what_it_needs_are_named() -> None:
    with refuses(InputError, "no-such-parameter", "column", "epsilon"):
        built("match-count", column="score")
    with refuses(InputError, "no-content"):
        built("score-cdf")
    with refuses(InputError, "no-steps"):
        built("envy-freeness", targets=21, arms=3, arms_per_person=1)
    with refuses(InputError, "no-such-log", "jobs", "feed"):
        built("log-cdf", log="jobs")
    with refuses(InputError, "no-such-numbers", "age", "score"):
        built("log-cdf", log="feed", column="age")


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_field_has_a_title_and_a_help_text(name: str) -> None:
    """A field that a request gains later is seen here, not by the first user who meets it."""
    for each in parameters_of(CONTRACTS[name].request):
        assert each.title, each.name
        assert len(each.help) > 10, each.name


def test_the_only_column_of_a_log_need_not_be_named() -> None:
    assert built("reo", log="feed").creators == "young"
