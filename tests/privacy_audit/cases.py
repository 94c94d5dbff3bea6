"""The audited cases: every kind and mechanism, under both relations."""

from collections.abc import Iterator
from typing import Any

from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, Currency, Relation
from tests.privacy_audit import intersected
from tests.privacy_audit.exchanged import REPLICAS
from tests.privacy_audit.runs import IDS, Case
from tests.privacy_audit.worst import Searched

RELATIONS: tuple[Relation, ...] = (ADD_REMOVE, CHANGE_ONE)
AUDIENCE: dict[str, Any] = {"audience_id": IDS["audience_id"]}
ONE_BIN: dict[str, Any] = {**IDS, "bins": {"edges": [0, 1]}, "kind": "score-histogram"}

OUTCOMES: dict[str, Any] = {
    **AUDIENCE,
    "kind": "outcome-test",
    "log": "jobs",
    "bins": {"edges": [0, 1]},
    "outcome_range": {"low": 0, "high": 1},
}
# An added person has an opportunity before and after correction: four cells move, each by one.
SIZES: dict[str, Any] = {
    **OUTCOMES,
    "kind": "bias-size",
    "corrections": [{"label": label, "add": [1]} for label in ("g0", "g1")],
}
REO: dict[str, Any] = {
    **AUDIENCE,
    "kind": "reo",
    "log": "feed",
    "signals": ["outcome"],
    "creators": "creator",
    "groups": ["young", "old"],
    "strategies": ["default"],
}
# A loss that is spread over many cells shows only where all of their noise goes one way, which is
# rare. More is seen of a larger epsilon, in proportion, but claims stay below half of what the runs
# can show at all (`test_estimate`).
SPREAD = {"epsilon": "1.5"}
SPREAD_WIDER = {"epsilon": "1.25"}

# Not more than these epsilons: a release at a time is slow, and few show enough of that much.
ENVY: dict[str, Any] = {
    **AUDIENCE,
    "kind": "envy-freeness",
    "alpha": "1",
    "tolerance": "1",
    "delta": "0.1",
    "gamma": "0.3",
    "lam": "0.3",
    "targets": 3,
    "arms": 12,
    "steps": 2_000,
    "arms_per_person": 1,
    "epsilon": "0.75",
    "duration_epsilon": "0",
    "cost_epsilon": "0",
}
# So few steps decide nothing here by the printed bounds: a target takes all of them.
SUMS_OF_ENVY: dict[str, Any] = ENVY | {
    "bounds": "printed",
    "tolerance": "0.1",
    "steps": 300,
    "epsilon": "0.000001",
}

# Decrypted by the auditor, which takes milliseconds of each sum: few runs, which show at most 2.3.
EXCHANGED: dict[str, Any] = {
    **AUDIENCE,
    "kind": "two-party",
    "metric": {"name": "outcomes", "log": "jobs", "outcome_range": {"low": 0, "high": 1}},
    "hidden_groups": REPLICAS,
    "weight_scale": 10,
    "epsilon": "1",
}

MATCHED: dict[str, Any] = {**AUDIENCE, "kind": "match-count", "epsilon": "1"}
# Each by the option of the sensitivity search whose worst neighbours are released.
SEARCHED: tuple[tuple[str, Relation, tuple[Searched, ...], Currency], ...] = (
    ("sample, Laplace", ADD_REMOVE, (("score-histogram", "Laplace, sample"),), "epsilon"),
    ("sample, Laplace", CHANGE_ONE, (("score-histogram", "Laplace, sample"),), "epsilon"),
    ("sample, Gaussian", ADD_REMOVE, (("score-histogram", "Gaussian, sample"),), "rho"),
    ("weights 3 and 1", ADD_REMOVE, (("most-skewed", "weights 3 and 1, upload"),), "epsilon"),
    ("weights 1 and 4", CHANGE_ONE, (("most-skewed", "weights 1 and 4, upload"),), "epsilon"),
    (
        "size of a bias, 1 place",
        ADD_REMOVE,
        (("bias-size", "Laplace, 1 place(s), 1 row(s), upload"),),
        "epsilon",
    ),
    ("lists, NDCG", ADD_REMOVE, (("two-party", "NDCG, upload"),), "epsilon"),
    (
        "lists of nobody, LOT",
        ADD_REMOVE,
        (("two-party", "LOT, lists of nobody, upload"),),
        "epsilon",
    ),
    (
        "clipping to a part of a range",
        ADD_REMOVE,
        (("outcome-test", "part of the range"),),
        "epsilon",
    ),
    (
        "composition of three",
        ADD_REMOVE,
        (
            ("score-histogram", "Laplace, no sizes, upload"),
            ("match-count", "upload"),
            ("balance-histogram", "1 bin(s), upload"),
        ),
        "epsilon",
    ),
)


def cases() -> Iterator[Case]:
    for relation in RELATIONS:
        yield Case("envy, counts", ENVY, relation, share=0.2)
        yield Case("histogram, Laplace, noisy sizes", ONE_BIN | {"epsilon": "1"}, relation)
        yield Case(
            "histogram, Laplace, known sizes",
            ONE_BIN | {"epsilon": "1"},
            relation,
            known_sizes=True,
        )
        yield Case(
            "histogram, Laplace, two groups each",
            ONE_BIN | {"epsilon": "1", "size_epsilon": "0"},
            relation,
            groups_per_person=2,
        )
        yield Case(
            "histogram, Gaussian, noisy sizes",
            ONE_BIN | {"mechanism": "discrete-gaussian", "rho": "0.5"},
            relation,
            currency="rho",
        )
        yield Case(
            "cdf, Laplace tree",
            {**IDS, "kind": "score-cdf", "bins": {"edges": [0, 1, 2, 3]}, "epsilon": "1"},
            relation,
            share=0.4,
        )
        for m in (1, 2):
            yield Case(
                f"outcome moments, Laplace, {m} row(s)",
                OUTCOMES | SPREAD | {"rows_per_person": m},
                relation,
            )
        yield Case(
            "outcome moments, Gaussian",
            OUTCOMES | {"mechanism": "discrete-gaussian", "rho": "0.5"},
            relation,
            currency="rho",
        )
        yield Case(
            "equal opportunity, Laplace, 2 row(s)",
            REO | {"epsilon": "1", "rows_per_person": 2},
            relation,
            share=0.5,
        )
        yield Case("size of a bias, Laplace", SIZES | SPREAD_WIDER, relation, share=0.3)
        yield Case(
            "size of a bias, Gaussian",
            SIZES | {"mechanism": "discrete-gaussian", "rho": "0.5"},
            relation,
            currency="rho",
            share=0.3,
        )
        yield Case(
            "cdf of a log, Laplace tree",
            AUDIENCE
            | {
                "kind": "log-cdf",
                "log": "jobs",
                "column": "score",
                "bins": {"edges": [0, 0.3, 0.6, 1]},
                "epsilon": "1",
            },
            relation,
            share=0.2,
        )
        yield Case("match count", AUDIENCE | {"kind": "match-count", "epsilon": "1"}, relation)
        for k in (1, 2):
            yield Case(
                f"balances, {k} group(s) each",
                AUDIENCE
                | {
                    "kind": "balance-histogram",
                    "bins": {"edges": [0, 0.5, 1]},
                    "epsilon": "1",
                },
                relation,
                groups_per_person=k,
            )
        yield Case(
            "most skewed, noisy max",
            AUDIENCE
            | {
                "kind": "most-skewed",
                "contents": [IDS["content_id"]] * 2,
                "bins": {"edges": [0, 1, 2, 3, 4]},
                "epsilon": "1",
            },
            relation,
            share=0.6,
        )
    two = {"arms_per_person": 2, "targets": 6}
    yield Case("envy, counts, two lots each", ENVY | two, ADD_REMOVE, share=0.2)
    steps, cost = ({f"{name}_epsilon": "0.75"} for name in ("duration", "cost"))
    # A lot that does not run takes no step; a target who is gone leaves their place to another.
    yield Case("envy, duration", SUMS_OF_ENVY | steps, ADD_REMOVE, share=0.15)
    yield Case("envy, cost", SUMS_OF_ENVY | cost, ADD_REMOVE, share=0.15)
    yield Case("two parties, decrypted sums", EXCHANGED, ADD_REMOVE, share=0.02)
    hidden = EXCHANGED | {"hidden_groups": 2 * intersected.REPLICAS}
    yield Case("two parties, intersection", hidden, ADD_REMOVE, share=0.02, intersected=True)
    yield Case("refunds and retries", MATCHED, ADD_REMOVE, share=0.1, served=True)
    for name, relation, searched, currency in SEARCHED:
        request = {"kind": searched[0][0]}
        yield Case(name, request, relation, currency, share=0.4, searched=searched)
