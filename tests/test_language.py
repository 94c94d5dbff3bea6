"""The check of prose finds what it is there to find."""

import pytest

from tests.language import MOST_WORDS, american_words, long_sentences


@pytest.mark.parametrize(
    "text",
    [
        "word " * (MOST_WORDS + 1) + "end.",
        "- a list item\n- " + "word " * (MOST_WORDS + 1) + "end.",
        "| cell | " + "word " * (MOST_WORDS + 1) + "end |",
    ],
)
def test_a_sentence_with_too_many_words_is_found(text: str) -> None:
    assert len(list(long_sentences(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "word " * (MOST_WORDS - 1) + "end.",
        "word " * 20 + "end. " + "word " * 20 + "end.",
        "```\n" + "word " * 40 + "\n```\n",
        "A sum: " + "P(x) ≤ y + z " * 20,
        "`" + "word " * 40 + "`",
    ],
)
def test_short_sentences_code_and_formulas_pass(text: str) -> None:
    assert list(long_sentences(text)) == []


def test_american_spelling_is_found_outside_of_code() -> None:
    assert list(american_words("The color of behavior, in `color`.")) == [
        ("color", "colour"),
        ("behavior", "behaviour"),
    ]
