"""Forgeries, by the platform, of the parts of a charge and of the entry of an audience."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from privacy.receipts import canonical
from tests.ledgers import AUDIENCE, HISTOGRAM, PUBLIC, TWO_PARTY, Ledger, charge_of, ed25519
from tests.vectors.ledger.honest import ROWS, SAMPLE, Honest
from tests.vectors.ledger.lies.telling import Bad, Lie, going_on, last

Facts = dict[str, Any]


def _charged(honest: Honest, alter: Callable[[Facts], object], case: str) -> Bad:
    """A charge that states something else than it should."""
    ledger = going_on(honest, "release")
    _charge(ledger, honest, alter)
    return last(ledger, case)


def _charge(ledger: Ledger, honest: Honest, alter: Callable[[Facts], object]) -> None:
    ids = ledger.new("charge"), ledger.new("audit"), honest.mandate
    body, facts = charge_of(HISTOGRAM, *ids)
    facts = deepcopy(facts)
    alter(facts)
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)


def _as_if(facts: Facts, request: dict[str, Any], **audience: Any) -> None:
    """Put parts and price there that are right for another request or another audience."""
    _, others = charge_of(request, "", "", "", replace(PUBLIC, **audience))
    facts |= {name: others[name] for name in ("parts", "epsilon", "rho", "debit")}


def the_scale_is_too_small(honest: Honest) -> Bad:
    def alter(facts: Facts) -> None:
        facts["parts"][0]["scale"] = "9"

    return _charged(honest, alter, "scale-of-a-part")


def the_sensitivity_is_too_small(honest: Honest) -> Bad:
    """By it a change would cost no more than an addition."""

    def alter(facts: Facts) -> None:
        part = facts["parts"][0]
        part["sensitivity"]["change_one"] = part["sensitivity"]["add_remove"]

    return _charged(honest, alter, "sensitivity-of-a-part")


def the_bounds_are_of_other_bins(honest: Honest) -> Bad:
    fewer = HISTOGRAM | {"bins": {"edges": [0.0, 1.0]}}
    return _charged(honest, lambda facts: _as_if(facts, fewer), "bounds-of-a-part")


def the_bounds_are_of_more_groups_per_person(honest: Honest) -> Bad:
    """Noise twice as wide as the audience's entry asks for is not what was bought either."""

    def alter(facts: Facts) -> None:
        _as_if(facts, HISTOGRAM, groups_per_person=2)

    return _charged(honest, alter, "bounds-of-a-part")


def a_part_is_missing(honest: Honest) -> Bad:
    def alter(facts: Facts) -> None:
        del facts["parts"][1]

    return _charged(honest, alter, "other-parts-than-asked")


def all_parts_are_missing(honest: Honest) -> Bad:
    return _charged(honest, lambda facts: facts.pop("parts"), "part-names")


def the_parameter_is_larger_than_what_was_asked(honest: Honest) -> Bad:
    larger = HISTOGRAM | {"epsilon": "0.2"}
    return _charged(honest, lambda facts: _as_if(facts, larger), "parameter-of-a-part")


def the_price_is_lower_than_that_of_the_parts(honest: Honest) -> Bad:
    def alter(facts: Facts) -> None:
        _, cheaper = charge_of(HISTOGRAM | {"epsilon": "0.05"}, "", "", "")
        facts |= {name: cheaper[name] for name in ("epsilon", "rho", "debit")}

    return _charged(honest, alter, "underpriced")


def another_request_is_carried(honest: Honest) -> Bad:
    """All of it is right for that request, which nobody signed."""
    other = HISTOGRAM | {"epsilon": "0.2"}

    def alter(facts: Facts) -> None:
        _as_if(facts, other)
        facts["request"] = canonical(other).decode()

    return _charged(honest, alter, "another-request-than-signed")


def no_request_is_carried(honest: Honest) -> Bad:
    return _charged(honest, lambda facts: facts.pop("request"), "no-request")


def a_rule_with_other_numbers(honest: Honest) -> Bad:
    def alter(facts: Facts) -> None:
        facts["parts"][0]["bounds"]["declared"] = {"largest": "1"}

    return _charged(honest, alter, "malformed-parts")


def a_mechanism_that_there_is_not(honest: Honest) -> Bad:
    def alter(facts: Facts) -> None:
        facts["parts"][0]["mechanism"] = "no-noise"

    return _charged(honest, alter, "unknown-mechanism")


def a_sample_is_charged_as_an_upload(honest: Honest) -> Bad:
    """In a sample of exact size one person displaces another: the bounds double."""
    ledger = going_on(honest, "sample")
    audience = ledger.seal(honest.lab, ledger.new("audience"), "known", source="sample")
    request = HISTOGRAM | {"audience_id": audience}
    ids = ledger.new("charge"), ledger.new("audit"), honest.mandate
    body, facts = charge_of(request, *ids, replace(SAMPLE, fixed_slots=False))
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)
    return last(ledger, "bounds-of-a-part")


def a_sample_without_its_assumption(honest: Honest) -> Bad:
    """Somebody who is not debited may have displaced another: a charge must say so."""
    ledger = going_on(honest, "sample")
    audience = ledger.seal(honest.lab, ledger.new("audience"), "known", source="sample")
    ids = ledger.new("charge"), ledger.new("audit"), honest.mandate
    body, facts = charge_of(HISTOGRAM | {"audience_id": audience}, *ids, SAMPLE)
    del facts["assumes"]
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)
    return last(ledger, "no-assumption")


def a_sample_of_the_format_before_is_charged_as_an_upload(honest: Honest) -> Bad:
    """Its entry states no numbers of groups, and yet that it is a sample."""
    ledger = going_on(honest, "older sample")
    audience = json.loads(ledger.lines[-1])["facts"]["audience_id"]
    ids = ledger.new("charge"), ledger.new("audit"), honest.mandate
    request = HISTOGRAM | {"audience_id": audience}
    body, facts = charge_of(request, *ids, replace(SAMPLE, fixed_slots=False))
    facts["assumes"] = ["uncounted-displacement"]
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)
    return last(ledger, "bounds-of-the-source")


def nobody_displaces_in_a_hidden_audience_of_the_format_before(honest: Honest) -> Bad:
    ledger = going_on(honest, "older sample")
    audience = ledger.seal_older(honest.lab, ledger.new("audience"), source="hidden")
    mandate = ledger.mandate(honest.lab, kinds=["two-party"])
    ids = ledger.new("charge"), ledger.new("audit"), mandate
    request = TWO_PARTY | {"audience_id": audience}
    body, facts = charge_of(request, *ids, replace(PUBLIC, fixed_slots=True))
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)
    return last(ledger, "bounds-of-the-source")


def rows_without_their_assumption(honest: Honest) -> Bad:
    """The rows of a log may be about people who are not protected: a charge must say so."""
    ledger = going_on(honest, "counting mandate")
    mandate = json.loads(ledger.lines[-1])["facts"]["mandate_id"]
    body, facts = charge_of(ROWS, ledger.new("charge"), ledger.new("audit"), mandate)
    del facts["assumes"]
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, facts, honest.lab)
    return last(ledger, "no-assumption")


def an_audience_says_another_number_of_groups(honest: Honest) -> Bad:
    ledger = going_on(honest, "content")
    ledger.seal(honest.lab, AUDIENCE, groups=5)
    _charge(ledger, honest, lambda _: None)
    return last(ledger, "bounds-of-a-part")


def a_sample_whose_sizes_are_not_known(honest: Honest) -> Bad:
    ledger = going_on(honest, "release")
    ledger.seal(honest.lab, ledger.new("audience"), "noisy", source="sample")
    return last(ledger, "sizes-of-the-source")


def a_hidden_audience_without_candidates(honest: Honest) -> Bad:
    ledger = going_on(honest, "release")
    ledger.seal(honest.lab, ledger.new("audience"), source="hidden")
    return last(ledger, "candidates-of-a-hidden-audience")


def a_histogram_of_a_hidden_audience(honest: Honest) -> Bad:
    """Nobody would be debited for it."""
    ledger = going_on(honest, "release")
    hidden = ledger.seal(honest.lab, ledger.new("audience"), source="hidden", candidates=50)
    ids = ledger.new("charge"), ledger.new("audit"), honest.mandate
    facts = replace(PUBLIC, fixed_slots=True, candidates=50)
    body, charged = charge_of(HISTOGRAM | {"audience_id": hidden}, *ids, facts)
    ada = replace(honest.ada, key=ed25519("ada"))
    ledger.stated(ada, "charge", body, charged, honest.lab)
    return last(ledger, "hidden-audience")


PARTS: tuple[Lie, ...] = (
    the_scale_is_too_small,
    the_sensitivity_is_too_small,
    the_bounds_are_of_other_bins,
    the_bounds_are_of_more_groups_per_person,
    a_part_is_missing,
    all_parts_are_missing,
    the_parameter_is_larger_than_what_was_asked,
    the_price_is_lower_than_that_of_the_parts,
    another_request_is_carried,
    no_request_is_carried,
    a_rule_with_other_numbers,
    a_mechanism_that_there_is_not,
    a_sample_is_charged_as_an_upload,
    a_sample_without_its_assumption,
    a_sample_of_the_format_before_is_charged_as_an_upload,
    nobody_displaces_in_a_hidden_audience_of_the_format_before,
    rows_without_their_assumption,
    an_audience_says_another_number_of_groups,
    a_sample_whose_sizes_are_not_known,
    a_hidden_audience_without_candidates,
    a_histogram_of_a_hidden_audience,
)
