"""The peak of memory of some work, as Python and NumPy count it."""

import tracemalloc
from collections.abc import Callable


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
