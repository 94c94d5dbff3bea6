"""Start of the `platform-auditor` command; while its modules load, Ctrl-C ends it with one line.

The command `auditor` starts in the same way.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def main() -> None:
    """Load the command, which takes seconds, and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from api.operations.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


def _leave(_: int, __: FrameType | None) -> NoReturn:
    """End the process. A module that catches import errors could swallow an exception."""
    sys.stderr.write("Interrupted. Nothing was started.\n")
    sys.stderr.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
