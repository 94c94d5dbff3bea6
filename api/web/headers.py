"""Headers of a request, before the application has parsed it."""

from starlette.types import Scope


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the value of a request's header, if it was sent."""
    return next((value for key, value in scope["headers"] if key == name), None)
