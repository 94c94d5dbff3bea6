"""Where people are scored and counted: in the worker's process, or on Ray. No kind knows which."""

from api.execution.in_process import InProcess
from api.platforms.interfaces import Engine, Platform

__all__ = ["engine_of"]


def engine_of(platform: Platform) -> Engine:
    """The engine that was handed over with the platform; unless one was, this process."""
    return platform.engine or InProcess(platform)
