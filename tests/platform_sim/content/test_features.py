import numpy as np

from platform_sim.content.features import PLAIN, Reader

PAST = {"kind": "job", "title": "Software engineer", "text": "python", "attributes": {"a": "B"}}


def test_words_are_known_by_their_stem() -> None:
    reader = Reader.of([PAST])
    assert reader.stems == ("a=b", "engin", "pytho", "softw")
    one = reader.read({"kind": "job", "title": "Engineering", "text": ""})
    other = reader.read({"kind": "job", "title": "ENGINEERS", "text": "nobody knows zebras"})
    assert np.array_equal(one, other)


def test_words_have_length_one_together_and_the_title_counts_double() -> None:
    words = Reader.of([PAST]).read(PAST)[PLAIN:]
    assert np.isclose(words @ words, 1)
    assert np.allclose(words / words.min(), [1, 2, 1, 2])


def test_content_of_an_unknown_kind_without_known_words_is_read_as_plain() -> None:
    read = Reader.of([PAST]).read({"kind": "other", "title": "xyzzy"})
    assert read.tolist() == [1.0] + [0.0] * (len(read) - 1)
