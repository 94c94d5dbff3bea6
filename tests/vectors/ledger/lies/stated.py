"""Forgeries, by the platform, of people's statements and keys."""

import json
from dataclasses import replace
from datetime import timedelta

from privacy.ledger import key_possession, statements
from privacy.receipts import digest
from tests.ledgers import (
    OPERATOR,
    ORIGIN,
    REGULATOR,
    Maker,
    ed25519,
    public,
    renumbered,
)
from tests.vectors.ledger.honest import Honest
from tests.vectors.ledger.lies.telling import (
    UNSIGNED,
    Bad,
    Lie,
    edited,
    going_on,
    last,
    resigned,
)


def a_request_is_edited(honest: Honest) -> Bad:
    lines, number = list(honest.ledger.lines), honest.places["charge"]
    changed = {"request": digest(b"another request")}
    lines[number] = edited(lines[number], lambda entry: entry["statement"]["body"].update(changed))
    return Bad(resigned(lines), number, UNSIGNED)


def a_request_within_a_chain_is_edited(honest: Honest) -> Bad:
    lines, number = list(honest.ledger.lines), honest.places["chained"] - 1
    changed = {"request": digest(b"another request")}
    lines[number] = edited(lines[number], lambda entry: entry["statement"]["body"].update(changed))
    return Bad(resigned(lines), number, UNSIGNED)


def a_mandate_is_raised(honest: Honest) -> Bad:
    lines, number = list(honest.ledger.lines), honest.places["mandate"]
    more = {"epsilon_limit": "200"}
    lines[number] = edited(lines[number], lambda entry: entry["statement"]["body"].update(more))
    return Bad(resigned(lines), number, UNSIGNED)


def a_mandate_is_forged_with_another_key(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.mandate(honest.lab, by=replace(REGULATOR, key=ed25519("forger")))
    return last(ledger, UNSIGNED)


def a_mandate_is_granted_by_the_operator(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.mandate(honest.lab, by=OPERATOR)
    return last(ledger, "not-theirs-to-sign")


def a_mandate_is_granted_by_a_regulator_of_the_platforms_own(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    fake = Maker(ledger.new("researcher"), ed25519("fake regulator"))
    facts = {"researcher_id": fake.id, "role": "regulator", "jwk": public(fake.key)}
    facts |= {"key_thumbprint": fake.key.thumbprint(), "by": "init"}
    ledger.write("researcher", facts)
    ledger.mandate(honest.lab, by=fake)
    return last(ledger, "regulator-not-in-keys-file")


def a_mandate_is_deleted(honest: Honest) -> Bad:
    """Its charges are bare then."""
    number = honest.places["mandate"]
    kept = [line for n, line in enumerate(honest.ledger.lines) if n != number]
    return Bad(resigned(renumbered(kept)), honest.places["older charge"] - 1, "no-such-mandate")


def a_statement_is_enacted_late(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    stale = REGULATOR.state("auditor", {"name": "Lab"}, "old", ledger.at - timedelta(hours=2))
    ledger.write("auditor", {"auditor_id": "auditor_x"}, "auditor_x", stale)
    return last(ledger, "clocks")


def a_statement_was_made_to_another_platform(honest: Honest) -> Bad:
    ledger, body = going_on(honest, "last charge"), {"name": "Lab"}
    said = statements.payload("elsewhere.example/v1/ledger", "auditor", REGULATOR.id, "k", body)
    signature = statements.sign(said, REGULATOR.key, at=ledger.at.timestamp())
    made = statements.Statement("auditor", REGULATOR.id, "k", body, signature)
    ledger.write("auditor", {"auditor_id": "auditor_x"}, "auditor_x", made)
    return last(ledger, UNSIGNED)


def the_old_key_of_a_researcher_is_used(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    ledger.charge(replace(honest.ada, key=ed25519("ada")), honest.mandate)
    return last(ledger, UNSIGNED)


def a_new_key_is_not_proved(honest: Honest) -> Bad:
    ledger = going_on(honest, "last charge")
    new = ed25519("ada, much later")
    proved = key_possession.key_change_bytes(ORIGIN, honest.ada.id, public(new))
    proof = statements.sign(proved, ed25519("somebody else"), at=ledger.at.timestamp())
    ledger.renew(honest.ada, new, proof=proof)
    return last(ledger, "key-not-proven")


def an_individual_did_not_agree_to_the_application(honest: Honest) -> Bad:
    ledger = going_on(honest, "refund", after=2)
    entry = json.loads(honest.ledger.lines[honest.places["application"]])
    body = entry["statement"]["body"] | {"organisation": "Another Lab"}
    principal = ed25519("grace")
    applicant = Maker(f"applicant:{principal.thumbprint()}", principal)
    ledger.stated(applicant, "application", body, entry["facts"])
    return last(ledger, "key-not-proven")


def another_application_is_approved_than_was_read(honest: Honest) -> Bad:
    ledger = going_on(honest, "application")
    entry = json.loads(honest.ledger.lines[honest.places["decision"]])
    body = entry["statement"]["body"] | {"application_digest": digest(b"what was read")}
    ledger.stated(REGULATOR, "decision", body, entry["facts"], entry["auditor"])
    return last(ledger, "another-application")


STATED: tuple[Lie, ...] = (
    a_request_is_edited,
    a_request_within_a_chain_is_edited,
    a_mandate_is_raised,
    a_mandate_is_forged_with_another_key,
    a_mandate_is_granted_by_the_operator,
    a_mandate_is_granted_by_a_regulator_of_the_platforms_own,
    a_mandate_is_deleted,
    a_statement_is_enacted_late,
    a_statement_was_made_to_another_platform,
    the_old_key_of_a_researcher_is_used,
    a_new_key_is_not_proved,
    an_individual_did_not_agree_to_the_application,
    another_application_is_approved_than_was_read,
)
