"""No kind, and no field of a request, can be forgotten."""

from api.audits import KINDS
from tests.privacy_audit.sensitivity.coverage import IRRELEVANT, gaps
from tests.privacy_audit.sensitivity.everything import options
from tests.privacy_audit.sensitivity.kinds import GENERATORS


def test_every_kind_has_a_generator() -> None:
    assert set(GENERATORS) == set(KINDS)


def test_every_field_of_every_request_varies_or_is_irrelevant() -> None:
    assert gaps(options(long=False)) == []
    assert gaps(options(long=True)) == []


def test_every_source_of_people_is_tried_with_every_kind() -> None:
    for kind in KINDS:
        sources = {option.audience.source for option in options(long=False) if option.kind == kind}
        assert {"upload", "confirmed", "sample", "hidden"} <= sources


def test_a_forgotten_kind_and_a_forgotten_field_are_named() -> None:
    without = [option for option in options(long=False) if option.kind != "reo"]
    assert gaps(without) == ["reo has no options to search"]
    still = [option for option in without if "weights" not in option.asked]
    assert "most-skewed: no options vary weights" in gaps(still)


def test_every_irrelevant_field_has_a_reason() -> None:
    assert all(IRRELEVANT.values())
