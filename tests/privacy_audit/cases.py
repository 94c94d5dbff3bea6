"""What is audited: every kind and mechanism, under both relations."""

from collections.abc import Iterator
from typing import Any

from privacy.price import ADD_REMOVE, CHANGE_ONE, Relation
from tests.privacy_audit.runs import IDS, Case

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


def cases() -> Iterator[Case]:
    for relation in RELATIONS:
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
                OUTCOMES | {"epsilon": "1", "rows_per_person": m},
                relation,
            )
        yield Case(
            "outcome moments, Gaussian",
            OUTCOMES | {"mechanism": "discrete-gaussian", "rho": "0.5"},
            relation,
            currency="rho",
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
