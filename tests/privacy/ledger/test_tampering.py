"""Every way to tamper with a ledger is found, and the first wrong entry is named.

A lying platform holds the ledger key: it can hash and sign everything anew (`relied`). What stops
it are the statements of others, and heads that others have seen or witnessed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from privacy.errors import InvalidLedgerError
from privacy.ledger import key_possession, statements
from privacy.ledger.verify import verify
from privacy.receipts import canonical
from tests.ledgers import (
    OPERATOR,
    ORIGIN,
    REGULATOR,
    Ledger,
    Maker,
    ed25519,
    head,
    header,
    public,
    relied,
    renumbered,
    trust,
    witnessed,
)
from tests.refusals import refuses


@dataclass
class World:
    """An honest ledger of two auditors, and where its entries are."""

    ledger: Ledger
    lab: str
    ada: Maker
    eve: Maker
    mandate: str
    others: str
    audit: str
    charged: int

    @classmethod
    def honest(cls) -> "World":
        ledger = Ledger.begun()
        lab, other = ledger.auditor(), ledger.auditor()
        ada, eve = ledger.researcher(lab), ledger.researcher(other, "eve")
        mandate = ledger.mandate(lab, epsilon_limit="1")
        audit = ledger.audit(ada, mandate)
        charged = len(ledger.lines) - 2
        others = ledger.mandate(other)
        ledger.audit(eve, others)
        ledger.audit(ada, mandate)
        ledger.verified()
        return cls(ledger, lab, ada, eve, mandate, others, audit, charged)


@pytest.fixture
def world() -> World:
    return World.honest()


def wrong(first: bytes, lines: list[bytes], **heads: Any) -> InvalidLedgerError:
    with pytest.raises(InvalidLedgerError) as found:
        verify(first, lines, trust(), **heads)
    return found.value


def edited(line: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    entry = json.loads(line)
    edit(entry)
    return canonical(entry)


# What anybody can do to a file.


def test_an_edit_without_the_ledger_key_breaks_the_tree(world: World) -> None:
    first, lines = world.ledger.export()
    lines[9] = edited(lines[9], lambda entry: entry["facts"].update(digest="sha256:" + "0" * 64))
    assert wrong(first, lines).case == "another-root"


def test_the_refusal_names_the_entries_between_which_the_edit_is(world: World) -> None:
    early = head(world.ledger.lines[:8], world.ledger.key)
    lines = list(world.ledger.lines)
    first = header(len(lines), [early, *world.ledger.notes])
    lines[9] = edited(lines[9], lambda entry: entry["facts"].update(digest="sha256:" + "0" * 64))
    found = wrong(first, lines)
    assert found.case == "another-root"
    assert f" 8 to {len(lines) - 1} " in found.reason


def test_a_deleted_entry_is_missed(world: World) -> None:
    first, lines = world.ledger.export()
    del lines[9]
    assert wrong(first, lines).number == 9


def test_an_inserted_entry_is_too_much(world: World) -> None:
    first, lines = world.ledger.export()
    lines.insert(9, lines[9])
    assert wrong(first, lines).number == 10


def test_entries_in_another_order_are_found(world: World) -> None:
    first, lines = world.ledger.export()
    lines[8], lines[9] = lines[9], lines[8]
    assert wrong(first, lines).number == 8


def test_a_truncated_export_is_shorter_than_its_head(world: World) -> None:
    first, lines = world.ledger.export()
    assert wrong(first, lines[:-1]).case == "entries-missing"
    assert wrong(first, []).case == "entries-missing"


def test_the_header_tells_how_many_entries_there_are(world: World) -> None:
    _, lines = world.ledger.export()
    assert wrong(header(3, world.ledger.notes), lines).case == "header-size"


def test_entries_beyond_the_newest_checkpoint_are_refused(world: World) -> None:
    lines = list(world.ledger.lines)
    first = header(len(lines), [head(lines[:-1], world.ledger.key)])
    assert wrong(first, lines).case == "entries-after-the-head"


def test_a_checkpoint_signed_by_another_key_is_not_trusted(world: World) -> None:
    assert wrong(*relied(world.ledger.lines, ed25519("stranger"))).case == "untrusted-checkpoint"


def test_an_entry_that_is_not_canonical_is_refused(world: World) -> None:
    lines = list(world.ledger.lines)
    lines[9] = json.dumps(json.loads(lines[9])).encode()
    found = wrong(*relied(lines))
    assert found.number == 9
    assert found.case == "not-canonical"


# What a lying platform can do, and who stops it.


def test_an_edited_statement_is_not_signed(world: World) -> None:
    lines = list(world.ledger.lines)
    number = world.charged
    lines[number] = edited(
        lines[number], lambda entry: entry["statement"]["body"].update(request="sha256:" + "0" * 64)
    )
    found = wrong(*relied(lines))
    assert found.number == number
    assert found.case == "wrong-signature"


def test_deleting_a_mandate_leaves_its_charges_bare(world: World) -> None:
    granted = next(n for n, line in enumerate(world.ledger.lines) if b'"kind":"mandate"' in line)
    lines = renumbered(line for n, line in enumerate(world.ledger.lines) if n != granted)
    found = wrong(*relied(lines))
    assert found.number == world.charged - 1
    assert found.case == "no-such-mandate"


def test_a_silent_deletion_is_found_by_a_holder_of_the_checkpoint(world: World) -> None:
    seen = world.ledger.notes[-1]
    shorter = renumbered(line for n, line in enumerate(world.ledger.lines) if n != 8)
    verify(*relied(shorter), trust())
    assert wrong(*relied(shorter), seen=[seen]).case == "entries-missing"


def test_a_fork_is_found_by_a_holder_of_the_other_branch(world: World) -> None:
    shared = list(world.ledger.lines)
    world.ledger.audit(world.ada, world.mandate)
    one = world.ledger.verified().note
    other = Ledger(shared, [], world.ledger.key, world.ledger.at, 500)
    other.audit(world.eve, world.others)
    other.audit(world.ada, world.mandate)
    other.verified()
    with refuses(InvalidLedgerError, "another-root") as found:
        other.verified(seen=[one])
    assert found.value.number is None


def test_an_old_checkpoint_is_found_by_a_holder_of_a_newer_one(world: World) -> None:
    old = world.ledger.export()
    world.ledger.audit(world.ada, world.mandate)
    new = world.ledger.sign()
    verify(*old, trust())
    assert wrong(*old, seen=[new]).case == "entries-missing"
    assert wrong(*old, witnessed=[witnessed(new)]).case == "entries-missing"


def test_a_rewritten_past_is_found_by_what_a_witness_signed(world: World) -> None:
    cosigned = witnessed(world.ledger.notes[-1])
    lines = list(world.ledger.lines)
    lines[8] = edited(lines[8], lambda entry: entry["facts"].update(digest="sha256:" + "0" * 64))
    verify(*relied(lines), trust())
    found = wrong(*relied(lines), witnessed=[cosigned])
    assert found.case == "another-root"
    assert " of a witness" in found.reason


def test_a_witness_whom_nobody_knows_witnesses_nothing(world: World) -> None:
    note = world.ledger.notes[-1]
    assert wrong(*world.ledger.export(), witnessed=[note]).case == "no-witness"


def test_a_time_that_runs_backwards_is_found(world: World) -> None:
    world.ledger.at -= timedelta(hours=1)
    number = world.ledger.write("model", {"digest": "sha256:" + "0" * 64})
    assert wrong(*world.ledger.export()).number == number


def test_a_kind_that_nobody_knows_is_refused(world: World) -> None:
    number = world.ledger.write("gift", {})
    assert wrong(*world.ledger.export()).number == number


# Keys.


def test_a_new_ledger_key_without_the_bridge_is_not_trusted(world: World) -> None:
    world.ledger.rotate(ed25519("second"), bridge=False)
    assert wrong(*world.ledger.export()).case == "untrusted-checkpoint"


def test_a_key_is_not_trusted_for_checkpoints_before_its_announcement(world: World) -> None:
    early = head(world.ledger.lines[:5], ed25519("second"))
    world.ledger.rotate(ed25519("second"))
    world.ledger.verified()
    world.ledger.notes.insert(0, early)
    found = wrong(*world.ledger.export())
    assert found.case == "untrusted-checkpoint"
    assert " 5 " in found.reason


def test_a_statement_signed_anew_by_another_key_is_found(world: World) -> None:
    forger = Maker(world.ada.id, ed25519("forger"), world.lab)
    world.ledger.charge(forger, world.mandate)
    found = wrong(*world.ledger.export())
    assert found.number == len(world.ledger.lines) - 1
    assert found.case == "wrong-signature"


def test_the_first_of_many_bad_signatures_is_named(world: World) -> None:
    forger = Maker(world.ada.id, ed25519("forger"), world.lab)
    world.ledger.charge(world.ada, world.mandate)
    first = len(world.ledger.lines)
    for _ in range(3):
        world.ledger.charge(forger, world.mandate)
    world.ledger.write("gift", {})
    assert wrong(*world.ledger.export()).number == first


def test_a_regulator_who_is_not_in_the_keys_file_grants_nothing(world: World) -> None:
    fake = Maker("researcher_" + "f" * 30, ed25519("fake regulator"))
    facts = {
        "researcher_id": fake.id,
        "role": "regulator",
        "jwk": dict(fake.key.as_dict(private=False)),
        "key_thumbprint": fake.key.thumbprint(),
        "by": "init",
    }
    world.ledger.write("researcher", facts)
    world.ledger.verified()
    world.ledger.mandate(world.lab, by=fake)
    found = wrong(*world.ledger.export())
    assert found.number == len(world.ledger.lines) - 1
    assert found.case == "regulator-not-in-keys-file"


@pytest.mark.parametrize("by", ["ada", "operator"])
def test_a_mandate_signed_by_anybody_else_is_forged(world: World, by: str) -> None:
    world.ledger.mandate(world.lab, by=world.ada if by == "ada" else OPERATOR)
    found = wrong(*world.ledger.export())
    assert found.number == len(world.ledger.lines) - 1
    assert found.case == "not-theirs-to-sign"


def test_what_a_regulator_stated_to_another_platform_does_not_count(world: World) -> None:
    body = {"name": "Lab"}
    stated = statements.payload("elsewhere/v1/ledger", "auditor", REGULATOR.id, "key", body)
    signature = statements.sign(stated, REGULATOR.key, at=world.ledger.at.timestamp())
    statement = statements.Statement("auditor", REGULATOR.id, "key", body, signature)
    number = world.ledger.write("auditor", {"auditor_id": "auditor_x"}, "auditor_x", statement)
    found = wrong(*world.ledger.export())
    assert found.number == number
    assert found.case == "wrong-signature"


def test_the_platform_cannot_register_a_researcher_by_itself(world: World) -> None:
    mallory = Maker("researcher_" + "e" * 30, ed25519("mallory"), world.lab)
    facts = {
        "researcher_id": mallory.id,
        "role": "auditor",
        "jwk": dict(mallory.key.as_dict(private=False)),
        "key_thumbprint": mallory.key.thumbprint(),
        "by": "init",
    }
    number = world.ledger.write("researcher", facts, world.lab)
    assert wrong(*world.ledger.export()).number == number


def test_the_platform_cannot_put_its_own_key_under_a_registration(world: World) -> None:
    number = next(n for n, line in enumerate(world.ledger.lines) if world.ada.id.encode() in line)
    swapped = ed25519("mallory")
    facts = {"jwk": dict(swapped.as_dict(private=False)), "key_thumbprint": swapped.thumbprint()}
    lines = list(world.ledger.lines)
    lines[number] = edited(lines[number], lambda entry: entry["facts"].update(facts))
    assert wrong(*relied(lines)).number == number


def test_a_removed_person_charges_no_more(world: World) -> None:
    body = {"researcher_id": world.ada.id, "reason": {"commitment": "sha256:" + "0" * 64}}
    world.ledger.stated(REGULATOR, "researcher-removal", body, {}, world.lab)
    world.ledger.verified()
    world.ledger.charge(world.ada, world.mandate)
    assert wrong(*world.ledger.export()).number == len(world.ledger.lines) - 1


def test_a_new_key_that_nobody_proves_to_hold_is_refused(world: World) -> None:
    """Neither a thief of the old key nor the platform can name another person's key."""
    new, other = ed25519("ada, later"), ed25519("somebody else")
    at, jwk = world.ledger.at.timestamp(), public(new)
    proved = key_possession.key_change_bytes(ORIGIN, world.ada.id, jwk)
    for proof in (
        "",
        "not a proof",
        statements.sign(proved, other, at=at),
        statements.sign(key_possession.key_change_bytes(ORIGIN, world.eve.id, jwk), new, at=at),
        statements.sign(
            key_possession.key_change_bytes("elsewhere", world.ada.id, jwk), new, at=at
        ),
        statements.sign(
            key_possession.key_change_bytes(ORIGIN, world.ada.id, public(other)), new, at=at
        ),
    ):
        world.ledger.renew(world.ada, new, proof=proof)
        found = wrong(*world.ledger.export())
        assert found.number == len(world.ledger.lines) - 1
        assert found.case == "key-not-proven"
        del world.ledger.lines[-1]
        world.ledger.notes.clear()
    world.ledger.renew(world.ada, new)
    world.ledger.verified()


# An auditor's own export.


def test_a_forged_proof_is_found(world: World) -> None:
    first, lines = world.ledger.partial(world.lab)
    verify(first, lines, trust())
    forged = json.loads(lines[2])
    forged["path"][0] = forged["path"][-1]
    number = json.loads(forged["entry"])["number"]
    assert wrong(first, [*lines[:2], json.dumps(forged).encode(), *lines[3:]]).number == number


def test_an_edited_entry_does_not_fit_its_proof(world: World) -> None:
    first, lines = world.ledger.partial(world.lab)
    forged = json.loads(lines[-1])
    forged["entry"] = edited(
        forged["entry"].encode(), lambda entry: entry["facts"].update(audit_id=world.audit)
    ).decode()
    found = wrong(first, [*lines[:-1], json.dumps(forged).encode()])
    assert found.number == json.loads(forged["entry"])["number"]


def test_a_checkpoint_of_a_partial_export_must_be_signed_and_new(world: World) -> None:
    first, lines = world.ledger.partial(world.lab)
    world.ledger.audit(world.ada, world.mandate)
    new = world.ledger.sign()
    assert wrong(first, lines, seen=[new]).case == "old-export"
    _, lines = world.ledger.partial(world.lab)
    strange = head(world.ledger.lines, ed25519("stranger"))
    signed = header(len(world.ledger.lines), [strange], auditor=world.lab)
    assert wrong(signed, lines).case == "untrusted-checkpoint"


def test_an_auditors_export_may_not_repeat_or_mix(world: World) -> None:
    first, lines = world.ledger.partial(world.lab)
    assert wrong(first, [*lines, lines[-1]]).case == "not-in-order"
    assert json.loads(world.ledger.lines[-1])["auditor"] == world.lab
    others = header(len(world.ledger.lines), world.ledger.notes[-1:], auditor="auditor_other")
    assert wrong(others, lines).case == "entry-of-another-auditor"


def test_what_is_no_line_of_an_auditors_export_is_refused_in_words(world: World) -> None:
    first, lines = world.ledger.partial(world.lab)
    for line in (
        b"",
        b"{}",
        b'{"entry":"x","path":[]}',
        lines[0].replace(b'path": ["', b'path": ["*'),
    ):
        assert isinstance(wrong(first, [line]), InvalidLedgerError)


@pytest.mark.parametrize("days", [-1, 1])
def test_a_statement_is_not_enacted_long_after_or_before_it_was_made(
    world: World, days: int
) -> None:
    """A refused request is in the platform's hands, signed: it must go stale there."""
    body = {"name": "Lab"}
    made = world.ledger.at + timedelta(days=days)
    statement = REGULATOR.state("auditor", body, "refused", made)
    number = world.ledger.write("auditor", {"auditor_id": "auditor_x"}, "auditor_x", statement)
    found = wrong(*world.ledger.export())
    assert found.number == number
    assert found.case == "clocks"


def chained(world: World, count: int = 4) -> list[statements.Statement]:
    """Auditors registered by statements that each name the one before."""
    made: list[statements.Statement] = []
    for number in range(count):
        before = made[-1] if made else None
        body = {"name": f"Lab {number}"}
        made.append(REGULATOR.state("auditor", body, f"c-{number}", world.ledger.at, before))
    return made


def write_auditor(world: World, statement: statements.Statement) -> int:
    lab = world.ledger.new("auditor")
    return world.ledger.write("auditor", {"auditor_id": lab}, lab, statement)


def test_a_chain_of_statements_is_proved_by_its_last(world: World) -> None:
    with_chain = [write_auditor(world, statement) for statement in chained(world)]
    assert verify(*world.ledger.export(), trust()).size == with_chain[-1] + 1


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_changed_statement_in_a_chain_is_named(world: World, place: int) -> None:
    numbers = []
    for number, statement in enumerate(chained(world)):
        told = replace(statement, body={"name": "Other"}) if number == place else statement
        numbers.append(write_auditor(world, told))
    assert wrong(*world.ledger.export()).number == numbers[place]


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_forged_statement_slipped_into_a_chain_is_named(world: World, place: int) -> None:
    """It names the one before, as the true next one does; nobody signed it."""
    made = chained(world)
    mallory = replace(REGULATOR, key=ed25519("mallory"))
    forged = mallory.state("auditor", {"name": "M"}, "m", world.ledger.at, made[place])
    headed = REGULATOR.state("auditor", {"name": "M"}, "m", world.ledger.at, made[place])
    stolen = headed.signature.partition("..")[0] + ".." + forged.signature.partition("..")[2]
    expected = None
    for number, statement in enumerate(made):
        write_auditor(world, statement)
        if number == place:
            expected = write_auditor(world, replace(forged, signature=stolen))
    assert wrong(*world.ledger.export()).number == expected
