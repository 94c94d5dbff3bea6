"""People by the rows that a log holds about them, for the kinds that count rows."""

from collections.abc import Sequence
from itertools import product

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.people import Human, Row
from tests.privacy_audit.sensitivity.options import GAUSSIAN, LAPLACE, memberships

# Gaussian noise is told apart from Laplace noise by what several rows of a person do together.
NOISES = (("Laplace", LAPLACE, 1), ("Laplace", LAPLACE, 2), ("Gaussian", GAUSSIAN, 2))


def with_rows(audience: SearchedAudience, letters: Sequence[Row], most: int) -> list[Human]:
    """Return people with all lists of up to `rows` rows, and some with one row too many.

    Which rows of somebody are drawn depends on their order.
    """
    texts = [text for count in range(most + 1) for text in product(letters, repeat=count)]
    texts += product(letters[:2], repeat=most + 1)
    return [Human(groups, rows=text) for groups in memberships(audience) for text in texts]


def others_with_rows(audience: SearchedAudience, letters: Sequence[Row], most: int) -> list[Human]:
    """Everybody that others can be, with one row at most; with more, a few whose rows are alike."""
    if is_sampled(most):
        return with_same_rows(audience, letters, most)
    texts: list[tuple[Row, ...]] = [(), *((letter,) for letter in letters)]
    return [Human(groups, rows=text) for groups in memberships(audience) for text in texts]


def is_sampled(most: int) -> bool:
    """Return whether people with this number of rows are too many to try them all."""
    return most > 1


def with_same_rows(audience: SearchedAudience, letters: Sequence[Row], count: int) -> list[Human]:
    """Two others whose rows are all alike."""
    groups = memberships(audience)[:2]
    return [Human(each, rows=(row,) * count) for each, row in zip(groups, letters, strict=False)]


def larger(
    audience: SearchedAudience, row: st.SearchStrategy[Row], most: int = 5
) -> st.SearchStrategy[Human]:
    groups = st.sampled_from(memberships(audience))
    return st.builds(Human, groups, rows=st.lists(row, max_size=most).map(tuple))
