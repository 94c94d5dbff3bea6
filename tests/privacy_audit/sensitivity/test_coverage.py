"""No kind, and no field of a request, can be forgotten."""

from dataclasses import replace

import pytest

from api.kinds.registry import KINDS
from api.operations.sensitivity.families import CI
from tests.privacy_audit.sensitivity.coverage import IRRELEVANT, gaps
from tests.privacy_audit.sensitivity.everything import options
from tests.privacy_audit.sensitivity.kinds import GENERATORS
from tests.privacy_audit.sensitivity.report import rows
from tests.privacy_audit.sensitivity.search import search

# The least share of a price that any search may be content with.
LEAST = 0.02


def test_every_kind_has_a_generator() -> None:
    assert set(GENERATORS) == set(KINDS)


def test_every_field_of_every_request_varies_or_is_irrelevant() -> None:
    assert gaps(options(long=False)) == []
    assert gaps(options(long=True)) == []


def test_every_source_of_people_is_tried_with_every_kind() -> None:
    for kind in KINDS:
        sources = {option.audience.source for option in options(long=False) if option.kind == kind}
        assert {"upload", "confirmed", "sample", "hidden"} <= sources


# The number of people in a sample is public: nobody moves it, and the price assumes that they do.
STILL = {("match-count", "sample")}


@pytest.mark.parametrize("long", [False, True], ids=["CI", "long"])
def test_every_search_must_attain_something(long: bool) -> None:
    """A search that finds nothing at all is weak, and must not go unnoticed."""
    for option in options(long=long):
        if option.must_be_refused or (option.kind, option.name) in STILL:
            continue
        least = min(option.attains.values())
        assert least >= LEAST, f"{option.kind}: {option.name} may attain {least}"


def test_small_worlds_of_one_row_are_all_tried() -> None:
    """A list names the sampled kinds, so no full search silently becomes a sample."""
    sampled = {
        f"{option.kind}: {option.name}"
        for option in options(long=False)
        if option.sampled and not option.must_be_refused
    }
    kinds = {name.partition(":")[0] for name in sampled}
    assert kinds == {"envy-freeness", "bias-size", "two-party", "log-cdf", "reo", "outcome-test"}
    by_rows = ("log-cdf", "reo", "outcome-test")
    assert all("2 row(s)" in name for name in sampled if name.startswith(by_rows))
    assert "bias-size: Laplace, 1 place(s), 1 row(s), upload" not in sampled


def test_a_row_states_what_was_attained_and_of_which_worlds() -> None:
    [option] = [
        each for each in options(long=False) if (each.kind, each.name) == ("match-count", "upload")
    ]
    quick = replace(CI, examples=1)
    for sampled, word in ((False, "all"), (True, "sampled")):
        for row in rows(search(replace(option, sampled=sampled), quick)):
            assert row.split()[-3:] == ["1.000", "1.000", word]


def test_a_forgotten_kind_and_a_forgotten_field_are_named() -> None:
    without = [option for option in options(long=False) if option.kind != "reo"]
    assert gaps(without) == ["reo has no options to search"]
    still = [option for option in without if "weights" not in option.asked]
    assert "most-skewed: no options vary weights" in gaps(still)


def test_every_irrelevant_field_has_a_reason() -> None:
    assert all(IRRELEVANT.values())
