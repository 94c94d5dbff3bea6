"""Names that programs outside of the project import: they stay where they are."""

import importlib

import pytest

NAMES = (
    "auditor_client.gap.fairness_gap",
    "auditor_client.plan.sample_size",
    "auditor_client.plan.verdict_size",
    "auditor_client.reo.penalty",
    "auditor_client.demographics.bisg",
    "privacy.two_party.AuditorParty",
    "privacy.two_party.PlatformParty",
    "api.kinds.envy_freeness.algorithms.ocef",
    "api.kinds.envy_freeness.algorithms.audit_size",
    "api.kinds.envy_freeness.algorithms.beta",
    "bench.__main__.main",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_where_it_was(name: str) -> None:
    module, attribute = name.rsplit(".", 1)
    assert callable(getattr(importlib.import_module(module), attribute))
