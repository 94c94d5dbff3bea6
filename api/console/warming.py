"""Planning needs SciPy, which takes seconds to import: that is done beside what else starts.

Altair takes pandas for whole as soon as anybody has begun to import it. Where it is there, it is
imported here first, so that no chart meets half of it.
"""

import logging
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module

from api.console.questions import Question

log = logging.getLogger(__name__)

# Set once the first question has its answer.
ready = threading.Event()


@cache
def warm() -> None:
    """Once in a process."""
    threading.Thread(target=_warm, name="planner", daemon=True).start()


def _warm() -> None:
    try:
        with suppress(ImportError):
            import_module("pandas")
        from api.console.studies import curve, needed

        needed(Question())
        ready.set()
        curve(Question())
    except Exception:  # whoever asks first finds out
        log.exception("planner.error")
