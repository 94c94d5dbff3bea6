"""Displacement in charges on audiences that were sealed in the format before."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from openapi.resources import REQUEST
from privacy.errors import InvalidLedgerError
from privacy.plans import PublicAudience
from privacy.receipts import digest
from tests.ledgers import (
    AUDIENCE,
    HISTOGRAM,
    PUBLIC,
    REGULATOR,
    TWO_PARTY,
    Ledger,
    Maker,
    charge_of,
    older_parts,
    price,
)
from tests.privacy.ledger.test_parts import REQUESTS
from tests.refusals import refuses

SAMPLE = replace(PUBLIC, fixed_slots=True, sizes_known=True)
HIDDEN = replace(PUBLIC, fixed_slots=True, candidates=50)
NAMES = [f"{request['kind']}-{number}" for number, request in enumerate(REQUESTS)]


def sampled(*, older: bool) -> tuple[Ledger, Any, str]:
    """A ledger with a sealed sample, in the format before or in the newest."""
    ledger = Ledger.begun()
    ada = ledger.researcher(ledger.auditor())
    mandate = ledger.mandate(ada.auditor or "")
    if not older:
        ledger.seal(ada.auditor or "", AUDIENCE, "known", source="sample")
        return ledger, ada, mandate
    facts: Mapping[str, Any] = {
        "audience_id": AUDIENCE,
        "source": "sample",
        "commitment": digest(b"people"),
        "sizes": "known",
        "by": REGULATOR.id,
    }
    ledger.write("audience", dict(facts), ada.auditor)
    return ledger, ada, mandate


def test_a_charge_on_an_older_sample_lists_displacement() -> None:
    ledger, ada, mandate = sampled(older=True)
    ids = ledger.new("charge"), ledger.new("audit"), mandate
    body, facts = charge_of(HISTOGRAM | {"audience_id": AUDIENCE}, *ids, SAMPLE)
    ledger.stated(ada, "charge", body, facts, ada.auditor)
    assert ("audience-older", "score-histogram") in ledger.verified().notices


def test_a_charge_on_an_older_sample_is_not_priced_as_an_upload() -> None:
    ledger, ada, mandate = sampled(older=True)
    ids = ledger.new("charge"), ledger.new("audit"), mandate
    upload = replace(SAMPLE, fixed_slots=False)
    body, facts = charge_of(HISTOGRAM | {"audience_id": AUDIENCE}, *ids, upload)
    ledger.stated(ada, "charge", body, facts | {"assumes": ["uncounted-displacement"]}, ada.auditor)
    with pytest.raises(InvalidLedgerError):
        ledger.verified()


def test_an_older_charge_on_a_new_sample_verifies_while_the_service_is_upgraded() -> None:
    ledger, ada, mandate = sampled(older=False)
    body, facts = older_parts(ledger.new("charge"), ledger.new("audit"), mandate)
    paid = price("0.1")
    facts |= paid | {"debit": paid["epsilon"]["change_one"]}
    ledger.stated(ada, "charge", body, facts, ada.auditor)
    assert ("charge-older", "score-histogram") in ledger.verified().notices


def test_an_erased_audience_is_not_sealed_again_with_other_facts() -> None:
    ledger, ada, _ = sampled(older=False)
    ledger.write("audience-erasure", {"audience_id": AUDIENCE}, ada.auditor)
    ledger.seal(ada.auditor or "", AUDIENCE)
    with pytest.raises(InvalidLedgerError):
        ledger.verified()


# Every kind, on a sample and on a hidden audience of the format before.


def sealed_older(source: str, sizes: str) -> tuple[Ledger, Maker]:
    """A ledger with an audience of this source, sealed in the format before."""
    ledger = Ledger.begun()
    ada = ledger.researcher(ledger.auditor())
    ledger.seal_older(ada.auditor, sizes=sizes, source=source)
    return ledger, ada


def charge(
    ledger: Ledger, ada: Maker, asked: Mapping[str, Any], audience: PublicAudience, **changes: Any
) -> dict[str, Any]:
    """Charge what the service would on an audience of these facts; `changes` are of the charge."""
    valid = REQUEST.validate_python({**asked, "audience_id": AUDIENCE})
    request = valid.model_dump(mode="json")
    limits: dict[str, Any] = {"epsilon_limit": "1000", "rho_limit": None}
    if request.get("rho"):
        limits = {"epsilon_limit": None, "rho_limit": "1000"}
    kind = request["kind"]
    mandate = ledger.mandate(
        ada.auditor or "", kinds=[kind], exploration_limit="100000000", **limits
    )
    ids = ledger.new("charge"), ledger.new("audit"), mandate
    body, facts = charge_of(request, *ids, audience)
    if kind == "envy-freeness":
        lost = Decimal(request["alpha"]) * request["steps"] * request["targets"]
        facts["exploration_loss"] = f"{lost.normalize():f}"
    facts |= changes
    ledger.stated(ada, "charge", body, facts, ada.auditor)
    return facts


@pytest.mark.parametrize("asked", REQUESTS, ids=NAMES)
@pytest.mark.parametrize("each", [1, 2])
def test_every_kind_is_charged_on_an_older_sample(asked: dict[str, Any], each: int) -> None:
    ledger, ada = sealed_older("sample", "known")
    charge(ledger, ada, asked, replace(SAMPLE, groups=3, groups_per_person=each))
    assert ledger.verified().notices == {("audience-older", asked["kind"]): 1}


@pytest.mark.parametrize("asked", REQUESTS, ids=NAMES)
def test_every_kind_is_charged_on_an_older_upload(asked: dict[str, Any]) -> None:
    ledger, ada = sealed_older("upload", "noisy")
    charge(ledger, ada, asked, PUBLIC)
    assert ledger.verified().notices == {("audience-older", asked["kind"]): 1}


@pytest.mark.parametrize("asked", REQUESTS, ids=NAMES)
def test_displacement_is_neither_forgotten_nor_made_up(asked: dict[str, Any]) -> None:
    """On a sample and on an upload of the format before, the parts are those of the source."""
    cases = [("sample", "known", SAMPLE), ("upload", "noisy", PUBLIC)]
    for (source, sizes, own), (_, _, other) in zip(cases, cases[::-1], strict=True):
        ledger, ada = sealed_older(source, sizes)
        right = charge(ledger, ada, asked, own)
        flipped = replace(own, fixed_slots=other.fixed_slots)
        wrong = charge(ledger, ada, asked, flipped, assumes=right.get("assumes", []))
        if wrong["parts"] == right["parts"]:
            assert ledger.verified()
            continue
        with refuses(InvalidLedgerError, "bounds-of-the-source"):
            ledger.verified()


def test_parts_of_another_request_on_an_older_audience() -> None:
    """The numbers of groups are not known there, and all else is."""
    for other, case, named in [
        (HISTOGRAM | {"epsilon": "0.05"}, "parameter-of-a-part", ["bins"]),
        (HISTOGRAM | {"size_epsilon": "0"}, "other-parts-than-asked", ["bins", "sizes"]),
        (HISTOGRAM | {"kind": "score-cdf"}, "other-parts-than-asked", ["bins", "sizes"]),
    ]:
        ledger, ada = sealed_older("upload", "noisy")
        _, facts = charge_of(other, "", "", "")
        names = ("parts", "epsilon", "rho", "currency", "debit")
        charge(ledger, ada, HISTOGRAM, PUBLIC, **{name: facts[name] for name in names})
        with refuses(InvalidLedgerError, case, *named):
            ledger.verified()


def test_a_charge_on_an_older_hidden_audience() -> None:
    ledger, ada = sealed_older("hidden", "noisy")
    charge(ledger, ada, TWO_PARTY, HIDDEN)
    assert ledger.verified().notices == {("audience-older", "two-party"): 1}


def test_a_charge_on_an_older_hidden_audience_counts_the_displaced() -> None:
    """Its parts say that people displace each other, not its list of assumptions alone."""
    ledger, ada = sealed_older("hidden", "noisy")
    facts = charge(ledger, ada, TWO_PARTY, replace(HIDDEN, candidates=None))
    assert facts["parts"][0]["bounds"]["declared"]["displacing"] is False
    assert "uncounted-displacement" in facts["assumes"]
    with refuses(InvalidLedgerError, "bounds-of-the-source"):
        ledger.verified()


def test_a_charge_on_an_older_upload_counts_nobody_as_displaced() -> None:
    ledger, ada = sealed_older("upload", "noisy")
    charge(ledger, ada, TWO_PARTY, replace(PUBLIC, candidates=50))
    with refuses(InvalidLedgerError, "bounds-of-the-source"):
        ledger.verified()
