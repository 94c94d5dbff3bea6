"""Corrections of a request for the size of a bias, from the outcome test that found it."""

from collections.abc import Sequence
from typing import Any

from auditor_client.errors import InputError
from auditor_client.kinds.asking.facts import RequestFacts
from auditor_client.kinds.asking.hooks import AskingHalf, Said
from auditor_client.kinds.bias_size.result import Corrections
from auditor_client.kinds.outcome_test.result import OutcomeTestResult


def derive(said: Said, facts: RequestFacts) -> dict[str, Any]:
    """Return bins, corrections and slopes of a test, given by its identifier, its result, or
    corrections.
    """
    test = said.get("test")
    if test is None:
        return {}
    found = _corrections(test, facts)
    audience = said.get("audience", "")
    names = facts.names(audience if isinstance(audience, str) else audience.id)
    labels = {name: label for label, name in names.items()}
    if names and set(found.add) not in (set(names), set(labels)):
        raise InputError(
            f"The outcome test has the groups {', '.join(found.add)}, and this audience has"
            f" {', '.join(labels)}. Give the audience of the test, or one with the same groups.",
            case="other-groups",
        )
    add = {labels.get(name, name): list(each) for name, each in found.add.items()}
    return {
        "bins": {"edges": list(found.edges)},
        "corrections": [{"label": label, "add": add[label]} for label in sorted(add)],
        "slopes": list(found.slopes),
    }


def _corrections(test: Any, facts: RequestFacts) -> Corrections:
    if isinstance(test, Corrections):
        return test
    released = facts.result(test) if isinstance(test, str) else test
    if not isinstance(released, OutcomeTestResult):
        raise InputError(
            f"{released.id} is a {released.kind}. Give an outcome test, which determines "
            "the corrections.",
            case="another-kind",
        )
    return Corrections.of(released.moments)


def stand_in(test: Any, groups: Sequence[str]) -> Corrections:
    """Return corrections that leave scores unchanged, for the bins of a test."""
    return Corrections.none(test.bins.edges, groups)


ASKING = AskingHalf(derive=derive, stand_in=stand_in)
