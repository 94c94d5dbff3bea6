"""Installation of the console in an application."""

from fastapi import FastAPI

from api.console import root
from api.console.parts import ConsoleParts
from api.console.routing import fallback, routers
from api.console.security.current_user import ConsoleSessions
from api.console.state import build_console


def install(app: FastAPI, parts: ConsoleParts) -> ConsoleSessions:
    """Serve the console in addition to the API, and return its sessions."""
    app.state.console = build_console(parts)
    for router in (root.router, *routers(), fallback):
        app.include_router(router)
    return ConsoleSessions(app.state.console)


async def close(app: FastAPI) -> None:
    """End the processes of the planner."""
    await app.state.console.planner.close()
