"""Replay of the ledger names every charge without a request or without a paying mandate."""

import json
from datetime import timedelta
from typing import Any

import pytest

from privacy.errors import InvalidLedgerError
from privacy.ledger.statements import Statement
from privacy.ledger.verify import verify
from privacy.receipts import canonical, digest
from tests.ledgers import (
    AUDIENCE,
    HISTOGRAM,
    OPERATOR,
    REGULATOR,
    Ledger,
    Maker,
    charge_of,
    charge_parts,
    mandate_body,
    public,
    relied,
    trust,
)
from tests.refusals import refuses

RENEWING: dict[str, Any] = {"epsilon_limit": "0.5", "lifetime_limit": "2"}


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


def lab(ada: Maker) -> str:
    assert ada.auditor is not None
    return ada.auditor


def last_is_wrong(ledger: Ledger, case: str) -> None:
    """The last entry alone is wrong: without it the ledger is honest."""
    verify(*relied(ledger.lines[:-1]), trust())
    with refuses(InvalidLedgerError, case) as found:
        verify(*relied(ledger.lines), trust())
    assert found.value.number == len(ledger.lines) - 1


# Charges without a request.


def test_a_charge_without_a_statement(ledger: Ledger, ada: Maker) -> None:
    _, facts = charge_parts("charge_1", "audit_1", ledger.mandate(lab(ada)))
    ledger.write("charge", facts, ada.auditor)
    last_is_wrong(ledger, "no-statement")


def test_a_charge_with_a_statement_that_was_used(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada))
    ledger.charge(ada, mandate)
    used = json.loads(ledger.lines[-1])["statement"]
    _, facts = charge_parts("charge_1", "audit_1", mandate)
    ledger.write("charge", facts, ada.auditor, Statement(action="charge", **used))
    last_is_wrong(ledger, "statement-used-before")


def test_a_charge_with_a_statement_of_another_action(ledger: Ledger, ada: Maker) -> None:
    body, facts = charge_parts("charge_1", "audit_1", ledger.mandate(lab(ada)))
    ledger.write("charge", facts, ada.auditor, ada.state("researcher-key", body, "key", ledger.at))
    last_is_wrong(ledger, "wrong-signature")


def test_a_charge_on_another_mandate_than_was_asked_for(ledger: Ledger, ada: Maker) -> None:
    one, other = ledger.mandate(lab(ada)), ledger.mandate(lab(ada))
    ledger.charge(ada, one, mandate_id=one)
    body, facts = charge_of(HISTOGRAM | {"mandate_id": one}, "charge_1", "audit_1", other)
    ledger.stated(ada, "charge", body, facts, ada.auditor)
    last_is_wrong(ledger, "another-mandate-than-stated")


def test_an_audit_that_is_charged_twice(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada))
    audit = ledger.charge(ada, mandate)
    ledger.charge(ada, mandate, audit_id=audit)
    last_is_wrong(ledger, "charged-before")


def test_two_audits_under_one_charge(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada))
    ledger.charge(ada, mandate, charge_id="charge_1")
    ledger.charge(ada, mandate, charge_id="charge_1")
    last_is_wrong(ledger, "charged-before")


# Mandates.


def test_an_overspent_mandate(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada), epsilon_limit="0.75")
    for _ in range(4):
        ledger.charge(ada, mandate)
    last_is_wrong(ledger, "overspent")


def test_an_overspent_lifetime(ledger: Ledger, ada: Maker) -> None:
    renewal = {"kind": "fixed", "days": 1}
    mandate = ledger.mandate(lab(ada), **RENEWING, renewal=renewal)
    for _ in range(9):
        ledger.charge(ada, mandate)
        ledger.at += timedelta(days=1)
    last_is_wrong(ledger, "lifetime-overspent")


@pytest.mark.parametrize("kind", ["fixed", "rolling"])
def test_a_limit_that_renews(ledger: Ledger, ada: Maker, kind: str) -> None:
    renewal = {"kind": kind, "days": 1}
    mandate = ledger.mandate(lab(ada), **RENEWING, renewal=renewal)
    for _ in range(2):
        ledger.charge(ada, mandate)
        ledger.charge(ada, mandate)
        ledger.at += timedelta(days=1)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    ledger.verified()
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "overspent")


@pytest.mark.parametrize(
    "dates", [{"valid_from": "2026-01-02T00:00:00Z"}, {"valid_until": "2026-01-01T00:00:01Z"}]
)
def test_a_charge_outside_of_the_dates(ledger: Ledger, ada: Maker, dates: dict[str, Any]) -> None:
    ledger.charge(ada, ledger.mandate(lab(ada), **dates))
    last_is_wrong(ledger, "mandate-not-in-force")


def test_a_charge_while_suspended_or_after_the_end(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada))
    ledger.of_mandate("suspension", mandate, lab(ada))
    ledger.of_mandate("resumption", mandate, lab(ada))
    ledger.charge(ada, mandate)
    ledger.of_mandate("suspension", mandate, lab(ada))
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "mandate-suspended")
    del ledger.lines[-1]
    ledger.of_mandate("termination", mandate, lab(ada))
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "mandate-terminated")
    del ledger.lines[-1]
    ledger.of_mandate("resumption", mandate, lab(ada))
    last_is_wrong(ledger, "terminated-before")


def test_a_charge_of_an_individual_who_is_not_named(ledger: Ledger, ada: Maker) -> None:
    bob = ledger.researcher(lab(ada), "bob")
    mandate = ledger.mandate(lab(ada), researcher_ids=[ada.id])
    ledger.charge(ada, mandate)
    ledger.charge(bob, mandate)
    last_is_wrong(ledger, "researcher-not-allowed")


def test_a_charge_on_the_mandate_of_another_auditor(ledger: Ledger, ada: Maker) -> None:
    eve = ledger.researcher(ledger.auditor(), "eve")
    mandate = ledger.mandate(lab(ada))
    ledger.charge(eve, mandate)
    last_is_wrong(ledger, "mandate-of-another-auditor")
    del ledger.lines[-1]
    ledger.charge(Maker(eve.id, eve.key, ada.auditor), mandate)
    last_is_wrong(ledger, "not-a-researcher-of-the-auditor")


def test_a_kind_that_is_not_granted(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada), kinds=["match-count"])
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "kind-not-allowed")
    del ledger.lines[-1]
    ledger.of_mandate("mandate-change", mandate, lab(ada), kinds=["score-histogram"])
    ledger.charge(ada, mandate)
    ledger.verified()


def test_a_limit_that_was_changed(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada), epsilon_limit="0.25")
    ledger.of_mandate("mandate-change", mandate, lab(ada), epsilon_limit="0.5", kinds=None)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    ledger.verified()
    ledger.of_mandate("mandate-change", mandate, lab(ada), rho_limit="9")
    last_is_wrong(ledger, "no-such-limit")


def test_an_overspent_platform(ledger: Ledger, ada: Maker) -> None:
    ledger.write("settings", {"values": {"platform_rho": "0.05", "platform_window_days": 30}})
    mandate = ledger.mandate(lab(ada))
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    ledger.at += timedelta(days=30)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "platform-overspent")


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({"rho_limit": "1"}, "one-limit"),
        ({"epsilon_limit": None}, "one-limit"),
        ({"lifetime_limit": "1"}, "lifetime-limit-of-a-renewing-limit"),
        ({"renewal": {"kind": "fixed", "days": 0}, "lifetime_limit": "1"}, "renewal-under-a-day"),
        ({"epsilon_limit": "NaN"}, "not-an-amount"),
        ({"epsilon_limit": "-1"}, "not-an-amount"),
        ({"epsilon_limit": "1e999999999"}, "not-an-amount"),
        ({"epsilon_limit": "0.00000000000001"}, "too-many-decimals"),
        ({"epsilon_limit": 1}, "malformed-MandateBody"),
        ({"valid_from": "yesterday"}, "not-an-instant"),
        ({"valid_from": "2026-01-01T00:00:00"}, "no-time-zone"),
    ],
)
def test_a_mandate_that_makes_no_sense(
    ledger: Ledger, ada: Maker, changes: dict[str, Any], case: str
) -> None:
    ledger.mandate(lab(ada), **changes)
    last_is_wrong(ledger, case)


# Releases, failures, refunds.


def test_a_release_without_a_charge(ledger: Ledger, ada: Maker) -> None:
    ledger.release("audit_1", ada.auditor)
    last_is_wrong(ledger, "not-charged")


@pytest.mark.parametrize("before", ["release", "failure"])
@pytest.mark.parametrize("after", ["release", "failure"])
def test_an_audit_that_ends_twice(ledger: Ledger, ada: Maker, before: str, after: str) -> None:
    audit = ledger.charge(ada, ledger.mandate(lab(ada)))
    getattr(ledger, before)(audit, ada.auditor)
    getattr(ledger, after)(audit, ada.auditor)
    last_is_wrong(ledger, {"release": "released-before", "failure": "failed-before"}[before])


def test_a_refund_after_the_release(ledger: Ledger, ada: Maker) -> None:
    audit = ledger.charge(ada, ledger.mandate(lab(ada)))
    charged = len(ledger.lines) - 1
    ledger.release(audit, ada.auditor)
    ledger.refund(charged)
    last_is_wrong(ledger, "released-before")


def test_a_refund_after_a_failure(ledger: Ledger, ada: Maker) -> None:
    """People may have been read: a failed audit keeps its charge."""
    audit = ledger.charge(ada, ledger.mandate(lab(ada)))
    charged = len(ledger.lines) - 1
    ledger.failure(audit, ada.auditor)
    ledger.refund(charged)
    last_is_wrong(ledger, "failed-before")


def test_a_refund_twice_and_a_release_after_it(ledger: Ledger, ada: Maker) -> None:
    audit = ledger.charge(ada, ledger.mandate(lab(ada)))
    charged = len(ledger.lines) - 1
    ledger.refund(charged)
    ledger.refund(charged)
    last_is_wrong(ledger, "refunded-before")
    del ledger.lines[-1]
    ledger.release(audit, ada.auditor)
    last_is_wrong(ledger, "refunded-before")


def test_a_refund_of_more_than_was_charged(ledger: Ledger, ada: Maker) -> None:
    ledger.charge(ada, ledger.mandate(lab(ada)))
    ledger.refund(len(ledger.lines) - 1, debit="5")
    last_is_wrong(ledger, "another-refund-than-charged")


def test_what_is_filed_under_another_auditor(ledger: Ledger, ada: Maker) -> None:
    audit = ledger.charge(ada, ledger.mandate(lab(ada)))
    ledger.release(audit, "auditor_other")
    last_is_wrong(ledger, "audit-of-another-auditor")


@pytest.mark.parametrize("kind", ["fixed", "rolling"])
@pytest.mark.parametrize("refund_late", [False, True])
def test_a_refund_goes_back_to_the_time_it_was_taken_at(
    ledger: Ledger, ada: Maker, kind: str, refund_late: bool
) -> None:
    """A refund of another day's charge pays for nothing today."""
    mandate = ledger.mandate(lab(ada), **RENEWING, renewal={"kind": kind, "days": 1})
    ledger.charge(ada, mandate)
    charged = len(ledger.lines) - 1
    if not refund_late:
        ledger.refund(charged)
    ledger.at += timedelta(days=2)
    ledger.charge(ada, mandate)
    if refund_late:
        ledger.refund(charged)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "overspent")


def test_a_refund_goes_back_to_the_platforms_window(ledger: Ledger, ada: Maker) -> None:
    ledger.write("settings", {"values": {"platform_rho": "0.05", "platform_window_days": 30}})
    mandate = ledger.mandate(lab(ada))
    ledger.charge(ada, mandate)
    charged = len(ledger.lines) - 1
    ledger.at += timedelta(days=30)
    ledger.charge(ada, mandate)
    ledger.refund(charged)
    ledger.charge(ada, mandate)
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "platform-overspent")


# Audiences.


def test_a_charge_on_an_audience_that_was_not_sealed(ledger: Ledger, ada: Maker) -> None:
    other = ledger.seal(ledger.auditor(), "audience_of_another")
    mandate = ledger.mandate(lab(ada))
    for audience in ("audience_of_nobody", other):
        ledger.charge(ada, mandate, audience_id=audience)
        last_is_wrong(ledger, "no-such-audience")
        del ledger.lines[-1]


def test_a_charge_on_an_audience_that_was_erased(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(lab(ada))
    ledger.charge(ada, mandate)
    ledger.write("audience-erasure", {"audience_id": AUDIENCE}, ada.auditor)
    ledger.charge(ada, mandate)
    last_is_wrong(ledger, "no-such-audience")


def test_a_charge_on_other_people_than_were_sealed(ledger: Ledger, ada: Maker) -> None:
    ledger.charge(ada, ledger.mandate(lab(ada)), audience_commitment=digest(b"others"))
    last_is_wrong(ledger, "another-audience-than-sealed")


def test_an_audience_is_sealed_once(ledger: Ledger, ada: Maker) -> None:
    ledger.seal(ada.auditor, sizes="noisy")
    ledger.seal(ada.auditor, sizes="known")
    last_is_wrong(ledger, "sealed-before")


@pytest.mark.parametrize("sizes", [None, "small", 3])
def test_an_audience_says_whether_its_sizes_are_known(
    ledger: Ledger, ada: Maker, sizes: Any
) -> None:
    ledger.seal(ada.auditor, sizes=sizes)
    last_is_wrong(ledger, "malformed-AudienceEntryFacts")


# People.


def test_an_individual_is_registered_once(ledger: Ledger, ada: Maker) -> None:
    ledger.register(ada)
    last_is_wrong(ledger, "registered-already")


def test_the_applicants_key_is_in_the_application(ledger: Ledger, ada: Maker) -> None:
    facts = {"application_id": "a", "version": 1, "individuals": []}
    stranger = Maker(f"applicant:{ada.key.thumbprint()}", ada.key)
    ledger.stated(stranger, "application", {"individuals": []}, facts)
    last_is_wrong(ledger, "applicants-key-missing")


def test_an_approval_of_an_application_that_is_not_there(ledger: Ledger, ada: Maker) -> None:
    body = {"application_id": "a", "version": 1, "decision": "approve", "mandate": mandate_body()}
    facts = {"auditor_id": ada.auditor, "mandate_id": "mandate_1"}
    ledger.stated(REGULATOR, "decision", body | {"decision": "reject"}, {}, None)
    ledger.stated(REGULATOR, "decision", body, facts, ada.auditor)
    last_is_wrong(ledger, "no-such-version")


def test_an_approval_of_another_application_than_the_one_that_was_read(
    ledger: Ledger, ada: Maker
) -> None:
    """A lying platform shows the regulator one application, and enters another under its id."""
    applicant = Maker(f"applicant:{ada.key.thumbprint()}", ada.key)
    asked = {"individuals": [{"jwk": public(ada.key)}]}
    listed = [{"researcher_id": "researcher_9", "key_thumbprint": ada.key.thumbprint()}]
    known = {"application_id": "a", "version": 1}
    ledger.stated(applicant, "application", asked, {**known, "individuals": listed})
    body = {**known, "decision": "approve", "mandate": mandate_body()}
    facts = {"auditor_id": ada.auditor, "mandate_id": "mandate_1"}
    shown = digest(canonical({"individuals": []}))
    stated = body | {"application_digest": shown}
    ledger.stated(REGULATOR, "decision", stated, facts, ada.auditor)
    last_is_wrong(ledger, "another-application")


def test_an_operator_decides_nothing(ledger: Ledger, ada: Maker) -> None:
    ledger.stated(OPERATOR, "decision", {"decision": "approve"}, {})
    last_is_wrong(ledger, "not-theirs-to-sign")
