"""Requests of every kind from what people say, in Python or as text."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from auditor_client.errors import InputError
from auditor_client.kinds.asking.builder import build_request
from auditor_client.kinds.bias_size.result import Corrections
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
        return Catalogue.model_validate(
            {**CATALOGUE, "logs": [LOG, LOG | {"name": "applications", "traffic": None}]}
        )

    def __init__(
        self, source: str = "upload", people: int = 300, names: Mapping[str, str] | None = None
    ) -> None:
        self.source, self.people, self.known = source, people, names or {}

    def audience(self, audience_id: str) -> Audience:
        return Audience.model_validate(
            {
                "id": audience_id,
                "state": "sealed",
                "source": "sample" if self.source == "sample" else "upload",
                "participation_code": "code" if self.source == "confirmed" else None,
                "groups": [{"label": label, "members": self.people} for label in ("g0", "g1")],
                "groups_per_person": 1,
                "created_at": "2026-01-01T00:00:00Z",
            }
        )

    def names(self, _: str) -> Mapping[str, str]:
        return self.known

    def result(self, audit_id: str) -> Any:
        raise AssertionError(audit_id)


def built(kind: str, facts: PublicFacts | None = None, **said: Any) -> Any:
    half = auditor_kind(kind)
    return build_request(
        half.contract, half.asking, {"audience": AUDIENCE_ID, **said}, facts or PublicFacts()
    )


@pytest.mark.parametrize("kind", ["score-histogram", "score-cdf", "most-skewed"])
def test_default_bins_are_the_planners(kind: str) -> None:
    """Finer at the top, within the public range, and more of them for more people and less noise"""
    things: dict[str, Any] = {"contents": [CONTENT_ID, CONTENT_ID[:-1] + "c"]}
    asked: dict[str, Any] = things if kind == "most-skewed" else {"content": CONTENT_ID}
    found = {}
    for people, epsilon in ((30, "0.1"), (3_000, "2")):
        edges = built(kind, PublicFacts(people=people), **asked, epsilon=epsilon).bins.edges
        widths = [high - low for low, high in pairwise(edges)]
        assert (edges[0], edges[-1]) == (0, 1)
        assert max(widths[len(widths) // 2 :]) < min(widths[: len(widths) // 3])
        found[people] = len(widths)
    assert found == {30: 6, 3_000: 24}


def test_default_bins_follow_from_how_people_come_to_the_audit() -> None:
    """300 who confirmed have less noise than a sample, and all of them are there."""
    asked: dict[str, Any] = {"content": CONTENT_ID, "epsilon": "0.5"}
    bins = {
        source: len(built("score-histogram", PublicFacts(source), **asked).bins.edges) - 1
        for source in ("confirmed", "sample", "upload")
    }
    assert bins["confirmed"] > bins["sample"] >= 6
    assert bins["confirmed"] > bins["upload"] >= 6


def test_given_bins_are_taken_as_they_are() -> None:
    assert built("score-histogram", content=CONTENT_ID, bins=2).bins.edges == [0, 0.5, 1]
    levels = built("score-histogram", content=CONTENT_ID, levels=[1, 2, 5]).bins
    assert levels.levels == [1, 2, 5]


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
    asked: dict[str, Any] = {"content": CONTENT_ID, "bins": 3, "rho": 0.5}
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
        ({"content": "nonsense"}, "content: .* such as content_"),
        ({"mandate": "nonsense"}, "mandate: .* such as mandate_"),
        ({"bins": "0.9,0.1"}, "must increase, but 0.1 follows 0.9"),
        ({"bins": "0"}, "number of bins must be from 1 to 1000"),
        ({"bins": "-3"}, "number of bins must be from 1 to 1000"),
        ({"bins": 10**12}, "number of bins must be from 1 to 1000"),
        ({"bins": "9" * 40}, "from 2 to 1001 edges, such as 0,0.5,1"),
        ({"bins": "0.5"}, "from 2 to 1001 edges, such as 0,0.5,1"),
        ({"bins": ""}, "from 2 to 1001 edges, such as 0,0.5,1"),
        ({"bins": "nan,1"}, "bins: 'nan,1' is not a list of numbers like 0,0.5,1"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(said: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named) as caught:
        built("score-histogram", **({"content": CONTENT_ID} | said))
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
    with refuses(InputError, "no-random-traffic", "applications", "feed"):
        built("reo", log="applications")
    with refuses(InputError, "no-such-creators", "old", "young"):
        built("reo", log="feed", creators="old")


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_field_has_a_title_and_a_help_text(name: str) -> None:
    """A field that a request gains later is seen here, not by the first user who meets it."""
    for each in parameters_of(CONTRACTS[name].request):
        assert each.title, each.name
        assert len(each.help) > 10, each.name


def test_corrections_of_other_groups_are_refused_by_name() -> None:
    test = Corrections.none([0, 0.5, 1], ["man", "woman"])
    facts = PublicFacts(names={"g0": "man", "g1": "woman"})
    made = built("bias-size", facts, log="feed", test=test)
    assert [each.label for each in made.corrections] == ["g0", "g1"]
    with refuses(InputError, "other-groups", "man", "woman", "old"):
        built("bias-size", PublicFacts(names={"g0": "old"}), log="feed", test=test)


def test_the_only_column_of_a_log_need_not_be_named() -> None:
    assert built("reo", log="feed").creators == "young"
