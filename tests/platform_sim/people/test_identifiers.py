import hashlib
import re

import numpy as np
import pyarrow as pa

from platform_sim.people import identifiers


def test_identifiers_are_distinct_and_obviously_invented() -> None:
    persons = np.arange(300_000)
    surnames = np.zeros(len(persons), np.int8)
    for made, pattern in (
        (identifiers.usernames(1, persons, surnames), r"Smith_\d{7}"),
        (identifiers.emails(1, persons, surnames), r"smith\.\d{7}@example\.(org|com|net)"),
        (identifiers.phones(1, persons), r"\+1555\d{7}"),
    ):
        assert len(made.unique()) == len(persons)
        assert all(re.fullmatch(pattern, text) for text in made.slice(0, 1_000).to_pylist())


def test_usernames_are_compared_after_nfkc_strip_at_and_case_folding() -> None:
    spelt = [" @Smith_01 ", "ＳＭＩＴＨ_01", "@@smith_01", "Straße", "\u017fmith_01", None, ""]
    canonical = identifiers.canonical_usernames(pa.array(spelt))
    wanted = ["smith_01", "smith_01", "@smith_01", "strasse", "smith_01", None, ""]
    assert canonical.to_pylist() == wanted


def test_no_usernames_are_no_trouble() -> None:
    assert len(identifiers.canonical_usernames(pa.array([], pa.string()))) == 0


def test_emails_are_stripped_and_put_in_lower_case() -> None:
    spelt = pa.array([" Garcia.1@Example.ORG\n", None])
    assert identifiers.canonical_emails(spelt).to_pylist() == ["garcia.1@example.org", None]


def test_digests_are_sha256_of_utf8() -> None:
    digests = identifiers.sha256_each(pa.array(["+15550101234", "é"]))
    assert digests.type == pa.binary(32)
    assert digests.to_pylist() == [
        hashlib.sha256(b"+15550101234").digest(),
        hashlib.sha256("é".encode()).digest(),
    ]
