"""Contracts of kinds: one per kind, in step with the generated unions."""

from typing import get_args

import pytest
from pydantic import ValidationError

from api.app import generate_kinds as generate
from openapi.kinds.registry import BUILT_IN, CONTRACTS
from openapi.kinds.unions import REQUEST, AnyRelease, AnyRequest


def test_unions_hold_every_contract_in_order() -> None:
    assert tuple(CONTRACTS) == tuple(BUILT_IN)
    assert get_args(AnyRequest) == tuple(each.request for each in CONTRACTS.values())
    assert get_args(AnyRelease) == tuple(each.release for each in CONTRACTS.values())


def test_a_generated_file_that_differs_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = generate.PATH.read_text()
    assert text == generate.generate()

    monkeypatch.setattr(generate, "generate", lambda: text.replace("MatchCount", "Other"))
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    assert generate.main() == 1
    assert generate.PATH.read_text() == text


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_names_its_own_models(name: str) -> None:
    contract = CONTRACTS[name]
    for model in (contract.request, contract.release):
        assert get_args(model.model_fields["kind"].annotation) == (name,)
    assert isinstance(REQUEST.validate_python(contract.example), contract.request)
    assert contract.module == contract.request.__module__.rpartition(".")[2]
    assert len(contract.question) > 20
    assert contract.title


def test_the_fields_of_another_kind_are_refused() -> None:
    body = CONTRACTS["match-count"].example | {"content_id": "content_" + 30 * "0"}
    with pytest.raises(ValidationError):
        REQUEST.validate_python(body)
