import re

import pytest

from auditor_client.envy import EnvyCertificate, EverybodyRule, sample_rule

SAMPLE = sample_rule(73, noise=1.0)
ALL = EverybodyRule(50, 49, 0.025 / 50, 0.05, 5.0, 5.0)


@pytest.mark.parametrize(
    ("envious", "no_envy", "verdict"),
    [
        (0, 73, "envy-free"),
        (3, 72, "envy-free"),
        (3, 71, "inconclusive"),
        (4, 71, "not-envy-free"),
        (9, 80, "envy-free"),
    ],
)
def test_verdicts_by_the_limits_of_the_rule(envious: int, no_envy: int, verdict: str) -> None:
    assert (SAMPLE.certify_up_to, SAMPLE.envy_from) == (1, 4)
    assert EnvyCertificate(SAMPLE, 0.05, envious, no_envy).verdict == verdict


def test_the_certificate_says_what_it_claims_and_how_surely() -> None:
    claim, confidence = EnvyCertificate(SAMPLE, 0.05, 0, 73).statements()
    assert claim.startswith("Certified envy-free")
    assert re.findall(r"\d[\d.]*(?: %)?", claim) == ["10 %", "0.05", "0.1"]
    assert re.findall(r"\d+ %", confidence) == ["95 %"]


def test_envy_is_reported_in_addition() -> None:
    found = EnvyCertificate(SAMPLE, 0.05, 8, 60)
    assert (found.envious_at_least, found.uncertified) == (5, 13)
    words = found.explain()
    assert words.startswith("Not certified envy-free. What is shown is that at most 30.2 % of")
    assert "At least 5 of the 73 people" in words
    assert "Each statement is right" in words
    assert "At least 1 of the 73 people" in EnvyCertificate(SAMPLE, 0.05, 4, 60).explain()


def test_what_is_shown_is_never_rounded_to_more() -> None:
    found = EnvyCertificate(SAMPLE, 0.05, 0, 70)
    assert found.verdict == "inconclusive"
    told = float(found.explain().split("at most ")[1].split(" %")[0]) / 100
    assert found.share_at_most <= told <= found.share_at_most + 0.001


def test_everybody() -> None:
    assert (
        EnvyCertificate(ALL, 0.05, 0, 50)
        .explain()
        .startswith(
            "Certified envy-free: none of 50 people would gain more than 0.05 in reward from the"
            " recommendations of anybody else."
        )
    )
    some = EnvyCertificate(ALL, 0.05, 0, 45)
    assert (some.verdict, some.people_at_most, some.share_at_most) == ("inconclusive", 5, 0.1)
    assert "at most 5 of 50 people" in some.explain()
