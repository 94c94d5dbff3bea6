"""Functions compiled by Numba, with a disk cache where the disk is writable.

A compiled function is written next to its source, to NUMBA_CACHE_DIR, or into the account's cache.
A read-only install under an account without a home has none of these. Then every process compiles
again, which takes some seconds and changes nothing else.

A cache written by another version of this package may name classes that no longer exist. Numba then
raises when it reads the cache. Such a cache is emptied.

Importing this module imports Numba, which is slow. Import it, and its users, only in the functions
that use them.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return the function as machine code, with the arithmetic of Python: no step is reordered."""
    try:
        made = njit(cache=True)(function)
        _empty_if_unreadable(made)
    except (RuntimeError, OSError):  # no writable place for the cache
        made = njit(function)
    return cast("Function", made)


def _empty_if_unreadable(dispatcher: Any) -> None:
    cache = dispatcher._cache
    try:
        cache._cache_file._load_index()
    except (AttributeError, ImportError):
        cache.flush()
