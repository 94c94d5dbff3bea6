"""Route class of the whole service: it returns a connection before an answer is serialised.

FastAPI runs an endpoint in one thread and serialises its answer in another. An endpoint that kept
its connection meanwhile would wait for a thread, while threads wait for connections: a deadlock.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from sqlmodel import Session

from api.db import end_read

# Set on an endpoint that ends its sessions, because a router may be included in another.
_MARK = "ends_sessions"


class Route(APIRoute):
    """Route whose endpoint ends the sessions that it was given, in its own thread."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _ending_sessions(endpoint), **options)


def router(**options: Any) -> APIRouter:
    """Return a router of such routes."""
    return APIRouter(route_class=Route, **options)


def _ending_sessions(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    if iscoroutinefunction(endpoint) or hasattr(endpoint, _MARK):
        return endpoint

    @wraps(endpoint)
    def run(**given: Any) -> Any:
        sessions = [value for value in given.values() if isinstance(value, Session)]
        with ExitStack() as stack:
            for session in sessions:
                stack.enter_context(session)
            answer = endpoint(**given)
            for session in sessions:
                end_read(session)
        return answer

    setattr(run, _MARK, True)
    return run
