"""Canonical JSON, compared with the reference library."""

import math
from collections import OrderedDict
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from privacy.canonical import dumps

WHOLE = 2**53 - 1
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-WHOLE, WHOLE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
)


@given(VALUES)
@example({"\U0001f600": 1, "\ufb33": 2, "a": 3})  # by UTF-16, the first comes before the second
@example([0.0, -0.0, 1e-4, 9.999e-5, 1e-7, 1e16, 1e15, 123456789012345680.0, 5e-324, 0.1, 1.0])
@example(['\x00\x1f\x7f"\\/\b\t\n\f\r é\u2028'])
def test_it_is_what_the_library_writes(value: Any) -> None:
    assert dumps(value) == rfc8785.dumps(value)


@given(st.floats(1e-5, 1e17) | st.floats(-1e17, -1e-5))
def test_numbers_are_as_ecmascript_has_them(value: float) -> None:
    assert dumps(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        WHOLE + 1,
        -WHOLE - 1,
        "\ud800",
        {1: 2},
        {"a": b"b"},
        {"a": {"\udfff": 1}},
    ],
)
def test_it_refuses_as_the_library_does(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whatever the library says of it
        dumps(value)


def test_what_is_not_plain_is_left_to_the_library() -> None:
    value: Any = OrderedDict(b=(1, 2), a=OrderedDict(d=1, c=[]))
    assert dumps(value) == rfc8785.dumps(value) == b'{"a":{"c":[],"d":1},"b":[1,2]}'
