"""Audits of envy in study files: consent is said, delta is shared, older studies stay the same."""

from typing import Any

import pytest

from auditor_client.errors import InputError
from auditor_client.studies import parse_study
from tests.auditor_client.studies.examples import STUDY, changed, text_of

ENVY: dict[str, Any] = {
    "kind": "envy-freeness",
    "audience": "volunteers",
    "steps": 5000,
    "gamma": 0.1,
    "lam": 0.1,
    "epsilon": 1,
}
AGREED = changed("audiences.volunteers.consented", True)["audiences"]


def with_envy(**changes: Any) -> dict[str, Any]:
    audits = STUDY["audits"] | {"envy": ENVY | changes}
    return STUDY | {"audiences": AGREED, "audits": audits}


def test_what_was_registered_before_keeps_its_digest() -> None:
    """As it was computed before studies could explore."""
    known = "sha256:092ae952bedc1e6ca05eaee950f539687653a20ce78b58f64ac84ba870a8f24e"
    assert parse_study(text_of(STUDY)).digest == known
    assert parse_study(text_of(STUDY | {"audiences": AGREED})).digest != known


def test_a_certificate_and_a_gap_share_delta() -> None:
    assert parse_study(text_of(with_envy())).delta_each == 0.025


@pytest.mark.parametrize(
    ("study", "named"),
    [
        (with_envy() | {"audiences": STUDY["audiences"]}, r"consented.*volunteers"),
        (with_envy(gamma=None, lam=None), r"\bgamma\b.*\blam\b"),
        (with_envy(criterion="exact"), r"criterion.*\bprobabilistic\b"),
        (with_envy(arms_per_person=0), "arms_per_person"),
        (with_envy(steps=0), "steps"),
        (with_envy(tolerence=0.1), "'tolerence'.*'tolerance'"),
    ],
)
def test_a_bad_audit_of_envy_is_named(study: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        parse_study(text_of(study))
