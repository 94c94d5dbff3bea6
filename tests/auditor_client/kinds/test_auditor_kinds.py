"""Every kind has an auditor half, found by its own name."""

from dataclasses import fields
from importlib import import_module

import pytest

from auditor_client.errors import InputError
from auditor_client.kinds.auditor_kind import OnFirstUse
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import AUDITOR_KINDS, auditor_kind
from openapi.kinds.registry import CONTRACTS
from tests.refusals import refuses


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_contract_has_an_auditor_half(name: str) -> None:
    kind = auditor_kind(name)
    assert kind.contract is CONTRACTS[name]
    assert issubclass(kind.result, Result)
    assert kind.result.kind == name


@pytest.mark.parametrize("name", CONTRACTS)
def test_functions_that_are_imported_on_first_use_exist(name: str) -> None:
    kind = auditor_kind(name)
    values = [getattr(kind, each.name) for each in fields(kind)]
    lazy = [each for each in values if isinstance(each, OnFirstUse)]
    assert lazy
    assert all(callable(getattr(import_module(each.module), each.name)) for each in lazy)


def test_the_registry_lists_the_kinds_in_the_order_of_the_contracts() -> None:
    assert list(AUDITOR_KINDS)[: len(CONTRACTS)] == list(CONTRACTS)


def test_a_kind_that_is_not_installed_is_refused_by_name() -> None:
    with refuses(InputError, "unknown-kind", "share-above"):
        auditor_kind("share-above")
