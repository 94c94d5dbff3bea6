"""A process that calculates for the planner: one line of JSON in, one line of JSON out.

It runs at low priority, and ends when its input ends. It kills itself if a calculation takes longer
than its limit, even if the server that would end it is gone.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import BinaryIO

from api.console.planner.questions import Calculation

_NICENESS = 5


def main(limit_seconds: int) -> None:
    """Answer calculations from standard input until it ends."""
    with suppress(OSError):  # the sandbox of deploy/ does not allow it
        os.nice(_NICENESS)
    # A library that prints something must not break the protocol.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import api.console.planner.answers  # noqa: F401  (before "ready": it takes seconds)

    _say(channel, b"ready")
    for line in sys.stdin.buffer:
        signal.alarm(limit_seconds)
        answer = _calculate(Calculation.model_validate_json(line))
        signal.alarm(0)
        _say(channel, answer.encode())


def _calculate(asked: Calculation) -> str:
    from api.console.planner.answers import compute_people_needed, draw_power_curve

    if asked.verdict is None:
        return compute_people_needed(asked.question).model_dump_json()
    return draw_power_curve(asked.question, asked.verdict)


def _say(channel: BinaryIO, line: bytes) -> None:
    channel.write(line + b"\n")
    channel.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
