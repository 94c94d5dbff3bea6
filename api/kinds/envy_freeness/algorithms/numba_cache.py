"""Functions compiled by Numba, kept on disk where there is a place for them.

A compiled function is written beside its source, or where NUMBA_CACHE_DIR says, or else into the
cache of the account. An install that cannot be written to by an account without a home has none of
these: then it is compiled anew in every process, which takes some seconds and changes nothing else.

A cache that another version of this package wrote may name classes that are gone, and Numba raises
as it reads it. Such a cache is emptied.

This module takes as long to import as Numba does: import it, or what it compiles, where it is used.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The same function as machine code, with the arithmetic of Python: no step is reordered."""
    try:
        made = njit(cache=True)(function)
        _empty_if_unreadable(made)
    except (RuntimeError, OSError):  # no place to keep it
        made = njit(function)
    return cast("Function", made)


def _empty_if_unreadable(dispatcher: Any) -> None:
    cache = dispatcher._cache
    try:
        cache._cache_file._load_index()
    except (AttributeError, ImportError):
        cache.flush()
