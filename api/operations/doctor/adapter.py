"""Check of the platform's adapter, by the quick conformance checks."""

from collections.abc import Callable

from api.kernel.checks import Check, Finding
from api.platforms.conformance import CHECKS, subject_of
from api.platforms.interfaces import Platform

# Quick checks without people. After a change of an adapter, run `conformance` itself.
QUICK = (
    "match-answers-nobody",
    "match-answers-an-empty-batch",
    "offers-are-figures",
    "score-range-is-one",
    "score-answers-an-empty-batch",
    "score-takes-every-context",
    "model-digest-is-stable",
    "logs-are-described",
    "policies-are-described",
)


def examine_adapter(load: Callable[[], Platform]) -> list[Finding]:
    """Return the findings about the adapter: whether it answers, and its mistakes."""
    loaded: list[Platform] = []

    def adapter_answers(_: None) -> str | None:
        loaded.append(load())
        return None

    to_do = "start it, or correct platform and platform_options"
    found = [Check[None]("adapter-answers", adapter_answers, to_do)(None)]
    for platform in loaded:
        subject = subject_of(platform)
        found += [check(subject) for check in CHECKS if check.name in QUICK]
    return found
