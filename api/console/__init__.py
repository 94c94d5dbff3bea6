"""The web console at `/console`: pages made on the server of what the API shows the same caller.

This package alone may also import the SDK's planning, analysis and charts. Pages call the functions
of `api.routes`, so that nothing is on a page which the API would not say (R2).
"""

from fastapi import FastAPI

from api.console.console import build_console
from api.console.routing import fallback, routers
from api.console.warming import warm
from api.service import Service

__all__ = ["install", "warm"]


def install(app: FastAPI, service: Service) -> None:
    """Serve the console beside the API."""
    app.state.console = build_console(service)
    for router in (*routers(), fallback):
        app.include_router(router)
