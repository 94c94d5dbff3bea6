"""Start of the `auditor` command: Ctrl-C ends it with one line while its modules load."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_INTERRUPTED = 130


def main() -> None:
    """Load the command, which takes a second or more, and run it."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from auditor_client.cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


def _leave(_: int, __: FrameType | None) -> NoReturn:
    """End the process. An exception could be lost in a module that catches failures of imports."""
    sys.stderr.write("Interrupted. Nothing was sent, and nothing was charged.\n")
    sys.stderr.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
