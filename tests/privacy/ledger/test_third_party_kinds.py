"""Charges of kinds of audit that a package added: the verifier says what it took as stated."""

from typing import Any

import pytest

from privacy.errors import InvalidLedgerError
from privacy.ledger.verify import verify
from privacy.receipts import digest
from tests.ledgers import HISTOGRAM, Ledger, Maker, trust
from tests.privacy.ledger.test_parts import last_is_wrong, whole, write

KIND = "exposure"
FOREIGN = HISTOGRAM | {"kind": KIND}
ENABLED = {"kind": KIND, "package": "exposure-audit", "version": "1.0", "by": "operator"}
ENABLED |= {"digest": digest(b"wheel")}
ASSUMES = ["third-party-bounds"]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


def charge(ledger: Ledger, ada: Maker, assumes: list[str], **bounds: Any) -> None:
    def alter(facts: dict[str, Any]) -> None:
        if bounds:
            whole(facts, HISTOGRAM, **bounds)
        facts["assumes"] = assumes

    write(ledger, ada, alter, FOREIGN)


def test_bounds_of_a_package_are_taken_as_stated_and_named(ledger: Ledger, ada: Maker) -> None:
    ledger.write("kind-enabled", ENABLED)
    charge(ledger, ada, ASSUMES)
    assert ledger.verified().notices == {("third-party-bounds", KIND): 1}


@pytest.mark.parametrize("assumes", [[], ["uncounted-displacement"]])
def test_a_charge_of_a_package_says_that_it_rests_on_its_bounds(
    ledger: Ledger, ada: Maker, assumes: list[str]
) -> None:
    ledger.write("kind-enabled", ENABLED)
    charge(ledger, ada, assumes)
    last_is_wrong(ledger, "no-assumption")


def test_a_charge_may_rest_on_more_than_the_verifier_can_tell(ledger: Ledger, ada: Maker) -> None:
    ledger.write("kind-enabled", ENABLED)
    charge(ledger, ada, ["other-people-in-rows", *ASSUMES])
    assert ledger.verified().notices == {("third-party-bounds", KIND): 1}


def test_a_kind_is_enabled_before_it_is_charged(ledger: Ledger, ada: Maker) -> None:
    charge(ledger, ada, ASSUMES)
    last_is_wrong(ledger, "kind-not-enabled")


def test_displacement_is_assumed_of_a_package_too(ledger: Ledger, ada: Maker) -> None:
    ledger.write("kind-enabled", ENABLED)
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, source="sample", sizes="known")
    charge(ledger, ada, ["uncounted-displacement", *ASSUMES], fixed_slots=True, sizes_known=True)
    ledger.verified()
    charge(ledger, ada, ASSUMES, fixed_slots=True, sizes_known=True)
    last_is_wrong(ledger, "no-assumption")


def test_no_package_adds_a_built_in_kind(ledger: Ledger) -> None:
    ledger.write("kind-enabled", ENABLED | {"kind": "score-histogram"})
    last_is_wrong(ledger, "kind-is-built-in")


def test_no_kind_of_a_package_is_charged_on_people_who_are_found_later(
    ledger: Ledger, ada: Maker
) -> None:
    ledger.write("kind-enabled", ENABLED)
    ledger.sealed.add(ada.auditor)
    ledger.seal(ada.auditor, source="hidden", candidates=9)
    charge(ledger, ada, ["uncounted-displacement", *ASSUMES], fixed_slots=True)
    last_is_wrong(ledger, "hidden-audience")


def test_an_auditor_sees_that_a_kind_was_enabled(ledger: Ledger, ada: Maker) -> None:
    ledger.write("kind-enabled", ENABLED)
    charge(ledger, ada, ASSUMES)
    found = verify(*ledger.partial(ada.auditor or ""), trust())
    assert found.counts["kind-enabled"] == 1
    assert found.notices == {("third-party-bounds", KIND): 1}


def test_numbers_of_a_package_must_follow_from_each_other(ledger: Ledger, ada: Maker) -> None:
    ledger.write("kind-enabled", ENABLED)

    def alter(facts: dict[str, Any]) -> None:
        facts["assumes"] = ASSUMES
        facts["parts"][0].update(scale="9")

    write(ledger, ada, alter, FOREIGN)
    with pytest.raises(InvalidLedgerError) as found:
        ledger.verified()
    assert found.value.case == "scale-of-a-part"
