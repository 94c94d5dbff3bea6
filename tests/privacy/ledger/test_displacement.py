"""Displacement in charges on audiences that were sealed in the format before."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from privacy.errors import LedgerError
from privacy.receipts import digest
from tests.ledgers import (
    AUDIENCE,
    HISTOGRAM,
    PUBLIC,
    REGULATOR,
    Ledger,
    charge_of,
    older_parts,
    price,
)

SAMPLE = replace(PUBLIC, fixed_slots=True, sizes_known=True)


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
    with pytest.raises(LedgerError):
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
    with pytest.raises(LedgerError):
        ledger.verified()
