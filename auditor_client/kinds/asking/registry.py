"""Contracts and asking halves of kinds, by name."""

from auditor_client.errors import InputError
from auditor_client.kinds.asking.hooks import Asking
from auditor_client.kinds.bias_size import request as bias_size
from auditor_client.kinds.envy_freeness import request as envy_freeness
from auditor_client.kinds.outcome_test import request as outcome_test
from openapi.kinds.bias_size import KIND as BIAS_SIZE
from openapi.kinds.contract import KindContract
from openapi.kinds.envy_freeness import KIND as ENVY_FREENESS
from openapi.kinds.outcome_test import KIND as OUTCOME_TEST
from openapi.kinds.registry import CONTRACTS
from openapi.kinds.two_party import KIND as TWO_PARTY

_ASKING = {
    BIAS_SIZE.name: bias_size.ASKING,
    ENVY_FREENESS.name: envy_freeness.ASKING,
    OUTCOME_TEST.name: outcome_test.ASKING,
    TWO_PARTY.name: Asking(by_hand=True),
}


def contract_of(kind: str) -> KindContract:
    """Return the contract of a kind."""
    if kind not in CONTRACTS:
        raise InputError(
            f"There is no kind {kind!r}; there are: {', '.join(CONTRACTS)}.", case="no-such-kind"
        )
    return CONTRACTS[kind]


def asking_of(kind: str) -> Asking:
    """Return the asking half of a kind."""
    return _ASKING.get(kind, Asking())
