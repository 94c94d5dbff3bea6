"""Forgeries of ledger entries by the platform."""

import json
from dataclasses import replace
from datetime import timedelta

from privacy.ledger import statements
from privacy.receipts import digest
from tests.ledgers import (
    AUDIENCE,
    REGULATOR,
    Maker,
    charge_parts,
    ed25519,
    exploring_parts,
    mandate_body,
    older_parts,
    price,
    two_party_parts,
)
from tests.vectors.ledger.honest import Honest, deliver_drawn
from tests.vectors.ledger.lies.telling import (
    Bad,
    Lie,
    going_on,
    last,
)


def _ada(honest: Honest) -> Maker:
    """The researcher with the key that she had first."""
    return replace(honest.ada, key=ed25519("ada"))


def a_charge_without_a_request(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    _, facts = charge_parts(ledger.new("charge"), ledger.new("audit"), honest.mandate)
    ledger.write("charge", facts, honest.lab)
    return last(ledger, "no-statement")


def a_request_is_charged_twice(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    used = json.loads(ledger.lines[-1])["statement"]
    _, facts = charge_parts(ledger.new("charge"), ledger.new("audit"), honest.mandate)
    ledger.write("charge", facts, honest.lab, statements.Statement(action="charge", **used))
    return last(ledger, "statement-used-before")


def a_charge_beyond_the_mandate(honest: Honest) -> Bad:
    """Spending counts after the limit was lowered to 1."""
    ledger = going_on(honest, "last charge")
    body, facts = charge_parts(
        ledger.new("charge"), ledger.new("audit"), honest.mandate, "0.2", "0"
    )
    ledger.stated(honest.ada, "charge", body, facts, honest.lab)
    return last(ledger, "overspent")


def a_charge_on_a_suspended_mandate(honest: Honest) -> Bad:
    ledger = going_on(honest, "suspension")
    ledger.charge(honest.ada, honest.mandate)
    return last(ledger, "mandate-suspended")


def a_charge_that_is_too_cheap(honest: Honest) -> Bad:
    """The price for sizes that are known, of an audience whose sizes are not."""
    ledger = going_on(honest, "release")
    body, facts = charge_parts(ledger.new("charge"), ledger.new("audit"), honest.mandate)
    facts |= {**price("0.1"), "debit": "0.2"}
    ledger.stated(_ada(honest), "charge", body, facts, honest.lab)
    return last(ledger, "underpriced")


def an_older_charge_is_too_cheap(honest: Honest) -> Bad:
    ledger = going_on(honest, "older refund")
    body, facts = older_parts(ledger.new("charge"), ledger.new("audit"), honest.mandate)
    facts |= {**price("0.1"), "debit": "0.2"}
    audience = json.loads(ledger.lines[honest.places["older charge"]])["statement"]["body"]
    body |= {"audience_id": audience["audience_id"]}
    ledger.stated(_ada(honest), "charge", body, facts, honest.lab)
    return last(ledger, "underpriced")


def a_charge_goes_back_to_the_format_before(honest: Honest) -> Bad:
    """Without parts, its bounds would be nobody's business."""
    ledger = going_on(honest, "release")
    ledger.at += timedelta(days=1)
    body, facts = older_parts(ledger.new("charge"), ledger.new("audit"), honest.mandate)
    ledger.stated(_ada(honest), "charge", body, facts, honest.lab)
    return last(ledger, "older-format")


def a_charge_on_an_audience_that_was_erased(honest: Honest) -> Bad:
    ledger = going_on(honest, "audience-erasure")
    ledger.charge(honest.ada, honest.mandate, audience_id=AUDIENCE)
    return last(ledger, "no-such-audience")


def a_release_of_what_was_not_charged(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.release(ledger.new("audit"), honest.lab)
    return last(ledger, "not-charged")


def a_refund_of_what_was_released(honest: Honest) -> Bad:
    ledger = going_on(honest, "release")
    ledger.refund(honest.places["charge"])
    return last(ledger, "released-before")


def time_runs_backwards(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.at -= timedelta(hours=1)
    ledger.write("model", {"digest": digest(b"model")})
    return last(ledger, "time-goes-back")


def a_kind_that_nobody_knows(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.write("gift", {"mandate_id": honest.mandate})
    return last(ledger, "unknown-kind-of-entry")


def a_mandate_has_two_limits(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    body = mandate_body(rho_limit="1") | {"auditor_id": honest.lab}
    ledger.stated(REGULATOR, "mandate", body, {"mandate_id": ledger.new("mandate")}, honest.lab)
    return last(ledger, "one-limit")


def people_may_lose_more_than_was_granted(honest: Honest) -> Bad:
    """Forty of sixty were charged before."""
    ledger = going_on(honest, "stop", after=2)
    mandate = json.loads(ledger.lines[honest.places["exploring charge"]])["facts"]["mandate_id"]
    body, facts = exploring_parts(ledger.new("charge"), ledger.new("audit"), mandate)
    ledger.stated(honest.ada, "charge", body, facts, honest.lab)
    return last(ledger, "exploration-overspent")


def people_lose_more_than_is_charged(honest: Honest) -> Bad:
    ledger = going_on(honest, "exploring mandate")
    mandate = json.loads(ledger.lines[-1])["facts"]["mandate_id"]
    body, facts = exploring_parts(ledger.new("charge"), ledger.new("audit"), mandate)
    facts["exploration_loss"] = "4"
    ledger.stated(honest.ada, "charge", body, facts, honest.lab)
    return last(ledger, "another-loss-than-asked")


def what_was_stopped_is_released(honest: Honest) -> Bad:
    ledger = going_on(honest, "stop")
    stopped = json.loads(ledger.lines[-1])["statement"]["body"]["audit_id"]
    ledger.release(stopped, honest.lab)
    return last(ledger, "stopped-before")


def a_run_is_delivered_before_it_is_opened(honest: Honest) -> Bad:
    ledger = going_on(honest, "answer")
    answered = json.loads(ledger.lines[-1])["facts"]
    ledger.write("release", {**answered, "digest": digest(b"sums")}, honest.lab)
    return last(ledger, "not-opened")


def a_run_is_answered_twice(honest: Honest) -> Bad:
    ledger = going_on(honest, "answer")
    answered = json.loads(ledger.lines[-1])["facts"]
    ledger.write("answer", {**answered, "transcript": digest(b"other messages")}, honest.lab)
    return last(ledger, "answered-before")


def a_run_is_refunded_after_its_answer(honest: Honest) -> Bad:
    """People were read for it: the charge stays."""
    ledger = going_on(honest, "answer")
    ledger.refund(len(ledger.lines) - 2)
    return last(ledger, "answered-before")


def a_failed_audit_is_refunded(honest: Honest) -> Bad:
    ledger = going_on(honest, "exploring charge")
    charged = len(ledger.lines) - 1
    ledger.failure(json.loads(ledger.lines[charged])["facts"]["audit_id"], honest.lab)
    ledger.refund(charged, exploration_loss="40")
    return last(ledger, "failed-before")


def a_run_that_was_drawn_is_not_opened(honest: Honest) -> Bad:
    ledger = going_on(honest, "drawn charge")
    deliver_drawn(ledger, honest.lab, opened=True)
    return last(ledger, "not-opened")


def a_run_is_drawn_by_another_head_than_the_first(honest: Honest) -> Bad:
    ledger = going_on(honest, "drawn charge")
    early = int(honest.early.split("\n")[1])
    deliver_drawn(ledger, honest.lab, opened=False, size=early)
    return last(ledger, "another-drawing-head")


def a_run_is_drawn_by_a_root_that_nobody_signed(honest: Honest) -> Bad:
    ledger = going_on(honest, "drawn charge")
    deliver_drawn(ledger, honest.lab, opened=False, root=bytes(32).hex())
    return last(ledger, "unsigned-drawing-head")


def a_run_is_delivered_although_something_was_found(honest: Honest) -> Bad:
    ledger = going_on(honest, "answer")
    run = json.loads(ledger.lines[-1])["facts"]
    found = {**run, "findings": ["weight-out-of-bounds"]}
    ledger.stated(REGULATOR, "opening", found, {}, honest.lab)
    ledger.write("release", {**run, "digest": digest(b"sums")}, honest.lab)
    return last(ledger, "delivered-despite-findings")


def a_charge_hides_what_its_promise_rests_on(honest: Honest) -> Bad:
    ledger = going_on(honest, "two-party charge")
    mandate = json.loads(ledger.lines[-1])["facts"]["mandate_id"]
    body, facts = two_party_parts(ledger.new("charge"), ledger.new("audit"), mandate)
    ledger.stated(honest.ada, "charge", body, facts | {"assumes": []}, honest.lab)
    return last(ledger, "no-assumption")


BOOKED: tuple[Lie, ...] = (
    a_charge_without_a_request,
    a_request_is_charged_twice,
    a_charge_beyond_the_mandate,
    a_charge_on_a_suspended_mandate,
    a_charge_that_is_too_cheap,
    an_older_charge_is_too_cheap,
    a_charge_goes_back_to_the_format_before,
    a_charge_on_an_audience_that_was_erased,
    a_release_of_what_was_not_charged,
    a_refund_of_what_was_released,
    time_runs_backwards,
    a_kind_that_nobody_knows,
    a_mandate_has_two_limits,
    people_may_lose_more_than_was_granted,
    people_lose_more_than_is_charged,
    what_was_stopped_is_released,
    a_run_is_delivered_before_it_is_opened,
    a_run_is_answered_twice,
    a_run_is_refunded_after_its_answer,
    a_failed_audit_is_refunded,
    a_run_that_was_drawn_is_not_opened,
    a_run_is_drawn_by_another_head_than_the_first,
    a_run_is_drawn_by_a_root_that_nobody_signed,
    a_run_is_delivered_although_something_was_found,
    a_charge_hides_what_its_promise_rests_on,
)
