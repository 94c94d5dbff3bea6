"""Parts of a charge (format 3): the service's verify, and every wrong number is found."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from api.accounting.prices import stated_parts
from api.audits.pricing import price_plan
from api.kinds.registry import KINDS, AudienceFacts
from openapi.resources import REQUEST, Currency
from privacy.errors import EvidenceError, InvalidLedgerError
from privacy.ledger import entry_schemas
from privacy.ledger.parts import Notice, StatedCharge
from privacy.ledger.price_check import check_debit
from privacy.ledger.requests import read_charged_request
from privacy.ledger.statements import condense_request
from privacy.ledger.verify import verify
from privacy.plans import PLANS
from privacy.receipts import canonical, digest
from privacy.tables.mechanism_prices import TREE, exact_scale
from privacy.tables.sensitivity import Reach
from tests.exploring import asked as envy_asked
from tests.ledgers import (
    HISTOGRAM,
    PUBLIC,
    TWO_PARTY,
    Ledger,
    Maker,
    charge_of,
    price,
    relied,
    trust,
)
from tests.refusals import refuses

NORMS = ("l1", "l2_squared", "linf")
IDS = {"audience_id": "audience_" + "0" * 30}
CONTENT = {"content_id": "content_" + "0" * 30}
BINS = {"bins": {"edges": [0, 0.25, 0.5, 1]}}
LOG = {"log": "jobs", "rows_per_person": 3}
RANGE = {"outcome_range": {"low": 0, "high": 1}}
GAUSSIAN = {"mechanism": "discrete-gaussian", "rho": "0.7"}
CORRECTIONS = {
    "corrections": [{"label": "g0", "add": [0, 0, 0]}, {"label": "g1", "add": [0, 0, 1]}]
}
REO = {"signals": ["like"], "creators": "young", "groups": ["yes", "no"], "strategies": ["a", "b"]}
REQUESTS: list[dict[str, Any]] = [
    {"kind": "score-histogram", "epsilon": "1", **CONTENT, **BINS},
    {"kind": "score-histogram", "epsilon": "0.000001", **CONTENT, "bins": {"levels": [1, 2]}},
    {"kind": "score-histogram", "epsilon": "0.3", "size_epsilon": "0.1", **CONTENT, **BINS},
    {"kind": "score-histogram", "epsilon": "10", "size_epsilon": "0", **CONTENT, **BINS},
    {"kind": "score-histogram", **GAUSSIAN, **CONTENT, **BINS},
    {"kind": "score-histogram", **GAUSSIAN, "size_rho": "0", **CONTENT, **BINS},
    {"kind": "score-cdf", "epsilon": "0.3", **CONTENT, **BINS},
    {"kind": "match-count", "epsilon": "0.999999"},
    {
        "kind": "most-skewed",
        "epsilon": "0.3",
        "weights": [3, 2],
        "contents": ["content_" + "0" * 30] * 2,
    }
    | BINS,
    {"kind": "balance-histogram", "epsilon": "0.3", **BINS},
    {"kind": "outcome-test", "epsilon": "0.7", **LOG, **BINS, **RANGE},
    {"kind": "outcome-test", **GAUSSIAN, **LOG, **BINS, **RANGE},
    {"kind": "log-cdf", "epsilon": "0.3", "column": "score", **LOG, **BINS},
    {"kind": "reo", "epsilon": "0.3", **LOG, **REO},
    {"kind": "reo", **GAUSSIAN, **LOG, **REO, "days": ["1", "2", "3"]},
    {"kind": "bias-size", "epsilon": "0.3", **LOG, **BINS, **RANGE, **CORRECTIONS},
    {"kind": "bias-size", **GAUSSIAN, **LOG, **BINS, **RANGE, **CORRECTIONS, "places": 5},
    envy_asked().model_dump(mode="json"),
    envy_asked(arms_per_person=3, cost_epsilon="0").model_dump(mode="json"),
    *(
        {"kind": "two-party", "epsilon": "0.3", "hidden_groups": 2, "metric": metric}
        for metric in (
            {"name": "score-histogram", **CONTENT, **BINS},
            {"name": "false-positives", **LOG, "predicted": "p", "actual": "a"},
            {"name": "outcomes", **LOG, **RANGE, "squares": True},
            {"name": "auc", **LOG, "actual": "a", "edges": [0.25, 0.5]},
            {"name": "ndcg", "log": "jobs", "per_viewer": 2, "per_candidate": 3},
            {"name": "lot", "log": "jobs", "per_candidate": 2, "per_viewer": 1}
            | {"relevance_range": {"low": 0, "high": 1}},
            {"name": "pot", "log": "jobs", "per_candidate": 2, "points": [0.5], "bandwidth": 0.1}
            | RANGE,
        )
    ),
]


def charged(
    asked: dict[str, Any], facts: AudienceFacts
) -> tuple[dict[str, Any], list[dict[str, Any]], entry_schemas.ChargeFacts]:
    """The request, and what the service charges for it."""
    request = REQUEST.validate_python(IDS | asked)
    plan = KINDS[request.kind].plan(request, facts)
    currency: Currency = "rho" if "rho" in asked else "epsilon"
    shown = price_plan(plan, currency)
    paid = dict.fromkeys(("charge_id", "audit_id", "mandate_id", "audience_commitment"), "")
    paid |= shown.model_dump(mode="json", include={"epsilon", "rho", "currency", "debit"})
    return (
        request.model_dump(mode="json"),
        stated_parts(shown),
        entry_schemas.read(paid, entry_schemas.ChargeFacts),
    )


@pytest.mark.parametrize(
    "asked", REQUESTS, ids=[f"{r['kind']}-{n}" for n, r in enumerate(REQUESTS)]
)
@pytest.mark.parametrize("sizes", [None, (5, 5)])
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_what_the_service_charges_is_right(
    asked: dict[str, Any], sizes: tuple[int, int] | None, slots: bool, groups: int
) -> None:
    candidates = 50 if asked["kind"] == "two-party" and slots else None
    facts = AudienceFacts(
        ("g0", "g1"), groups, sizes, fixed_slots=slots, members=40, candidates=candidates
    )
    request, parts, paid = charged(asked, facts)
    stated = StatedCharge.of(request["kind"], request, parts, facts.public, PLANS[request["kind"]])
    (debit, rho), notices = check_debit(stated, paid)
    assert debit > 0
    assert rho > 0
    assert not notices


def test_every_kind_of_the_service_has_a_plan() -> None:
    assert PLANS.keys() == KINDS.keys() == {each["kind"] for each in REQUESTS}


# Wrong numbers, in a whole ledger.


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


def write(
    ledger: Ledger,
    ada: Maker,
    alter: Callable[[dict[str, Any]], None] = lambda _: None,
    request: dict[str, Any] = HISTOGRAM,
    **mandate: Any,
) -> None:
    """A charge whose facts were altered."""
    granted = ledger.mandate(ada.auditor or "", kinds=[request["kind"]], **mandate)
    if ada.auditor not in ledger.sealed:
        ledger.seal(ada.auditor)
        ledger.sealed.add(ada.auditor)
    ids = ledger.new("charge"), ledger.new("audit"), granted
    known = request if request["kind"] in PLANS else request | {"kind": HISTOGRAM["kind"]}
    _, facts = charge_of(known, *ids)
    facts = deepcopy(facts) | {"request": canonical(request).decode()}
    alter(facts)
    ledger.stated(ada, "charge", condense_request(request), facts, ada.auditor)


def last_is_wrong(ledger: Ledger, case: str) -> None:
    verify(*relied(ledger.lines[:-1]), trust())
    named = ["'bins'"] if case.endswith("-of-a-part") else []
    with refuses(InvalidLedgerError, case, *named) as found:
        verify(*relied(ledger.lines), trust())
    assert found.value.number == len(ledger.lines) - 1


def norms(facts: dict[str, Any], relation: str, **changes: str) -> None:
    facts["parts"][0]["sensitivity"][relation] |= changes


def test_an_honest_charge_leaves_nothing_unchecked(ledger: Ledger, ada: Maker) -> None:
    write(ledger, ada)
    assert not ledger.verified().notices


@pytest.mark.parametrize(
    ("alter", "case"),
    [
        (lambda f: f["parts"][0].update(scale="9"), "scale-of-a-part"),
        (lambda f: f["parts"][0].update(scale="10.0"), "scale-of-a-part"),
        (lambda f: f["parts"][0].update(scale="sqrt(100)"), "scale-of-a-part"),
        (lambda f: norms(f, "add_remove", l1="2"), "sensitivity-of-a-part"),
        (lambda f: norms(f, "change_one", l1="1"), "sensitivity-of-a-part"),
        (lambda f: norms(f, "change_one", linf="2"), "sensitivity-of-a-part"),
        (lambda f: norms(f, "change_one", l2_squared="-2"), "not-a-whole-number"),
        (lambda f: norms(f, "change_one", l1="02"), "not-a-whole-number"),
        (lambda f: f["parts"].pop(), "other-parts-than-asked"),
        (lambda f: f["parts"].append(f["parts"][1] | {"name": "more"}), "other-parts-than-asked"),
        (lambda f: f["parts"].append(f["parts"][1]), "part-names"),
        (lambda f: f.update(parts=[]), "part-names"),
        (lambda f: f.pop("parts"), "part-names"),
        (lambda f: f["parts"][0].pop("bounds"), "malformed-parts"),
        (lambda f: f["parts"][0].update(more="1"), "malformed-parts"),
        (lambda f: f["parts"][0].update(mechanism="laplace-tree"), "scale-of-a-part"),
        (lambda f: f["parts"][0].update(mechanism="of-tomorrow"), "unknown-mechanism"),
        (
            lambda f: f["parts"][0]["parameter"].update(currency="rho"),
            "parameter-of-another-mechanism",
        ),
        (lambda f: f["parts"][0]["parameter"].update(amount="0"), "malformed-parts"),
        (lambda f: f["parts"][0]["bounds"].update(shape=[]), "no-cells"),
        (lambda f: f["parts"][0]["bounds"].update(shape=[2, 0]), "no-cells"),
        (lambda f: f["parts"][0]["bounds"].update(shape=[2, 4]), "bounds-of-a-part"),
        (lambda f: f["parts"][0]["bounds"].update(rule="sums"), "malformed-parts"),
        (lambda f: f["parts"][0]["bounds"].update(rule="of-tomorrow"), "bounds-of-a-part"),
        (lambda f: f.update(price("0.1"), debit="0.2"), "underpriced"),
        (lambda f: f.update(price("0.2", "0.025"), debit="0.45"), "overpriced"),
        (lambda f: f.update(debit="0.125"), "not-the-change-one-price"),
        (lambda f: f.update(epsilon=None), "overpriced"),
        (
            lambda f: f.update(rho={"add_remove": "0.02", "change_one": "0.02"}),
            "change-one-below-add-remove-rho",
        ),
        (lambda f: f.update(debit=1), "malformed-ChargeFacts"),
    ],
)
def test_a_number_that_does_not_follow(
    ledger: Ledger, ada: Maker, alter: Callable[[dict[str, Any]], None], case: str
) -> None:
    write(ledger, ada, alter)
    last_is_wrong(ledger, case)


def whole(facts: dict[str, Any], request: dict[str, Any], **audience: Any) -> None:
    """Put parts and price there that are right for another request or another audience."""
    _, others = charge_of(request, "", "", "", replace(PUBLIC, **audience))
    facts |= {name: others[name] for name in ("parts", "epsilon", "rho", "currency", "debit")}


@pytest.mark.parametrize(
    ("request_", "audience", "case"),
    [
        (HISTOGRAM | {"epsilon": "0.05"}, {}, "parameter-of-a-part"),
        (HISTOGRAM | {"size_epsilon": "0"}, {}, "other-parts-than-asked"),
        (HISTOGRAM | {"bins": {"edges": [0.0, 1.0]}}, {}, "bounds-of-a-part"),
        (HISTOGRAM, {"groups_per_person": 2}, "bounds-of-a-part"),
        (HISTOGRAM, {"fixed_slots": True}, "bounds-of-a-part"),
        (HISTOGRAM, {"groups": 3}, "bounds-of-a-part"),
        (HISTOGRAM, {"sizes_known": True}, "other-parts-than-asked"),
        (HISTOGRAM | {"kind": "score-cdf"}, {}, "other-parts-than-asked"),
    ],
)
def test_parts_of_another_request_or_audience(
    ledger: Ledger, ada: Maker, request_: dict[str, Any], audience: dict[str, Any], case: str
) -> None:
    """All numbers follow from one another, but not from what was asked of whom."""
    write(ledger, ada, lambda facts: whole(facts, request_, **audience))
    last_is_wrong(ledger, case)


def test_another_mechanism_than_was_asked_for(ledger: Ledger, ada: Maker) -> None:
    """It has the scale and the price that are its own, and the bounds and parameter asked for."""

    def tree(facts: dict[str, Any]) -> None:
        part = facts["parts"][0]
        reach = Reach(*(int(part["sensitivity"]["add_remove"][norm]) for norm in NORMS))
        epsilon = Fraction(part["parameter"]["amount"])
        part["mechanism"] = TREE
        part["scale"] = exact_scale(TREE, tuple(part["bounds"]["shape"]), reach, epsilon)

    write(ledger, ada, tree)
    last_is_wrong(ledger, "mechanism-of-a-part")


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({"groups": 3}, "bounds-of-a-part"),
        ({"groups_per_person": 2}, "bounds-of-a-part"),
        ({"source": "sample", "sizes": "known"}, "other-parts-than-asked"),
    ],
)
def test_a_charge_on_an_audience_of_other_facts(
    ledger: Ledger, ada: Maker, changes: dict[str, Any], case: str
) -> None:
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, **changes)
    write(ledger, ada)
    last_is_wrong(ledger, case)


def test_nobody_counts_in_more_groups_than_there_are(ledger: Ledger, ada: Maker) -> None:
    """An audience may allow five groups per person and have two: two cells move at most."""
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, groups_per_person=5)
    write(ledger, ada, lambda facts: whole(facts, HISTOGRAM, groups_per_person=2))
    assert not ledger.verified().notices
    write(ledger, ada, lambda facts: whole(facts, HISTOGRAM, groups_per_person=5))
    last_is_wrong(ledger, "bounds-of-a-part")


@pytest.mark.parametrize("assumes", [[], ["bounded-weights"]])
def test_a_charge_that_does_not_state_its_assumptions(
    ledger: Ledger, ada: Maker, assumes: list[str]
) -> None:
    """In a sample people displace each other, which the lifetime cap does not count."""
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, source="sample", sizes="known")

    def sampled(facts: dict[str, Any], stated: list[str]) -> None:
        whole(facts, HISTOGRAM, fixed_slots=True, sizes_known=True)
        facts["assumes"] = stated

    write(ledger, ada, lambda facts: sampled(facts, ["uncounted-displacement"]))
    write(ledger, ada, lambda facts: sampled(facts, assumes))
    last_is_wrong(ledger, "no-assumption")


@pytest.mark.parametrize("assumes", [[], ["uncounted-displacement"]])
@pytest.mark.parametrize(
    "asked", [r for r in REQUESTS if "log" in r or "log" in r.get("metric", {})]
)
def test_a_charge_that_reads_rows_says_that_others_in_them_are_not_covered(
    ledger: Ledger, ada: Maker, asked: dict[str, Any], assumes: list[str]
) -> None:
    request = REQUEST.validate_python(IDS | asked).model_dump(mode="json")
    request["audience_id"] = HISTOGRAM["audience_id"]
    limits: dict[str, Any] = {"epsilon_limit": "1000"}
    if request.get("rho"):
        limits = {"epsilon_limit": None, "rho_limit": "1000"}
    write(ledger, ada, request=request, **limits)
    assert not ledger.verified().notices
    assert json.loads(ledger.lines[-1])["facts"]["assumes"][-1] == "other-people-in-rows"
    write(ledger, ada, lambda facts: facts.update(assumes=assumes), request, **limits)
    last_is_wrong(ledger, "no-assumption")


def test_a_hidden_audience_is_charged_for_no_other_kind(ledger: Ledger, ada: Maker) -> None:
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, source="hidden", candidates=9)
    write(ledger, ada, lambda facts: whole(facts, HISTOGRAM, fixed_slots=True))
    last_is_wrong(ledger, "hidden-audience")


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({"sizes": "known"}, "sizes-of-the-source"),
        ({"source": "confirmed"}, "sizes-of-the-source"),
        ({"source": "sample"}, "sizes-of-the-source"),
        ({"source": "hidden"}, "candidates-of-a-hidden-audience"),
        ({"source": "hidden", "candidates": 0}, "candidates-of-a-hidden-audience"),
        (
            {"source": "hidden", "candidates": 9, "sizes": "known"},
            "sizes-of-the-source",
        ),
        ({"candidates": 50}, "candidates-of-a-hidden-audience"),
        ({"source": "of-tomorrow"}, "unknown-source"),
        ({"groups": 0}, "no-groups"),
        ({"groups_per_person": 0}, "no-groups"),
        ({"groups": "2"}, "malformed-AudienceEntryFacts"),
    ],
)
def test_an_audience_that_contradicts_itself(
    ledger: Ledger, ada: Maker, changes: dict[str, Any], case: str
) -> None:
    ledger.seal(ada.auditor, **changes)
    last_is_wrong(ledger, case)


# Requests.


def test_request_fields_that_are_not_known_are_carried(ledger: Ledger, ada: Maker) -> None:
    write(ledger, ada, request=HISTOGRAM | {"of_tomorrow": {"deep": [1.5, None]}, "note": "why"})
    assert not ledger.verified().notices
    assert "of_tomorrow" in json.loads(ledger.lines[-1])["facts"]["request"]


def test_a_kind_that_is_not_known_is_named(ledger: Ledger, ada: Maker) -> None:
    """Its numbers must follow from each other; that they follow from the request is not checked."""
    write(ledger, ada, request=HISTOGRAM | {"kind": "of-tomorrow"})
    assert ledger.verified().notices == {("kind-unknown", "of-tomorrow"): 1}
    write(
        ledger, ada, lambda f: f["parts"][0].update(scale="9"), HISTOGRAM | {"kind": "of-tomorrow"}
    )
    last_is_wrong(ledger, "scale-of-a-part")


def test_a_verifier_without_plans_checks_the_numbers_alone(ledger: Ledger, ada: Maker) -> None:
    write(ledger, ada)
    found = verify(*relied(ledger.lines), trust(), plans={})
    assert found.notices == {("kind-unknown", "score-histogram"): 1}


@pytest.mark.parametrize(
    ("bounds", "notice"),
    [
        ({"rule": "of-tomorrow", "declared": {"cells": "1"}}, ("rule-unknown", "of-tomorrow")),
        (
            {
                "rule": "stated",
                "declared": dict.fromkeys(("added_l1", "added_l2_squared", "added_linf"), "1")
                | {"changed_l1": "2", "changed_l2_squared": "2", "changed_linf": "1"},
            },
            ("sensitivity-stated", "bins"),
        ),
    ],
)
def test_a_sensitivity_that_is_taken_as_stated_is_named(
    ledger: Ledger, ada: Maker, bounds: dict[str, Any], notice: Notice
) -> None:
    unknown = HISTOGRAM | {"kind": "of-tomorrow"}
    write(ledger, ada, lambda f: f["parts"][0]["bounds"].update(bounds), unknown)
    assert ledger.verified().notices == {notice: 1, ("kind-unknown", "of-tomorrow"): 1}


@pytest.mark.parametrize(
    ("change", "text", "case"),
    [
        ({}, None, "no-request"),
        ({}, canonical(HISTOGRAM | {"epsilon": "9"}).decode(), "another-request-than-signed"),
        (
            {"request": digest(b"another")},
            canonical(HISTOGRAM).decode(),
            "another-request-than-signed",
        ),
        ({"epsilon": "0.2"}, canonical(HISTOGRAM).decode(), "another-statement-than-request"),
        ({"of_tomorrow": "0.2"}, canonical(HISTOGRAM).decode(), "another-statement-than-request"),
        ({"request": digest(b"[]")}, "[]", "malformed-request"),
    ],
)
def test_a_charge_that_does_not_carry_its_request(
    change: dict[str, Any], text: str | None, case: str
) -> None:
    body = condense_request(HISTOGRAM)
    assert read_charged_request(body, canonical(HISTOGRAM).decode()) == HISTOGRAM
    with refuses(EvidenceError, case):
        read_charged_request(body | change, text)


@pytest.mark.parametrize("missing", ["bins", "epsilon", "mechanism", "size_epsilon"])
def test_a_request_that_is_not_one_of_its_kind(ledger: Ledger, ada: Maker, missing: str) -> None:
    request = {name: value for name, value in HISTOGRAM.items() if name != missing}
    write(ledger, ada, lambda _: None, HISTOGRAM)
    _, facts = charge_of(HISTOGRAM, "charge_1", "audit_1", "")
    facts["mandate_id"] = json.loads(ledger.lines[-1])["facts"]["mandate_id"]
    facts["request"] = canonical(request).decode()
    ledger.stated(ada, "charge", condense_request(request), facts, ada.auditor)
    last_is_wrong(ledger, "malformed-request")


def test_amounts_beyond_what_json_numbers_hold(ledger: Ledger, ada: Maker) -> None:
    """Sensitivities are strings: their squares are above 2⁵³ soon."""
    big = TWO_PARTY | {"weight_scale": 1_000_000, "hidden_groups": 1}
    _, facts = charge_of(big, "", "", "")
    squares = int(facts["parts"][0]["sensitivity"]["change_one"]["l2_squared"])
    assert squares > 10**12
    assert canonical(facts)


# Entries that are reserved, and repairs.


@pytest.mark.parametrize(
    ("kind", "shape", "facts"),
    [
        (
            "kind-enabled",
            entry_schemas.KindEnabledFacts,
            {"kind": "exposure", "package": "exposure-audit", "version": "1.0", "by": "operator"}
            | {"digest": digest(b"wheel")},
        ),
        (
            "balance-repair",
            entry_schemas.BalanceRepairFacts,
            {"reason": "a balance was below zero", "by": "migration"},
        ),
    ],
)
def test_entries_of_which_the_shape_is_checked(
    ledger: Ledger, kind: str, shape: type, facts: dict[str, str]
) -> None:
    ledger.write(kind, facts)
    assert ledger.verified().counts[kind] == 1
    for name in facts:
        ledger.write(kind, {each: text for each, text in facts.items() if each != name})
        last_is_wrong(ledger, f"malformed-{shape.__name__}")
        del ledger.lines[-1]


def test_an_entry_of_a_kind_that_is_not_known_is_refused(ledger: Ledger) -> None:
    ledger.write("of-tomorrow", {})
    last_is_wrong(ledger, "unknown-kind-of-entry")
