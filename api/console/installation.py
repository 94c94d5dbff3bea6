"""Installation of the console in an application."""

from fastapi import FastAPI

from api.console.console import build_console
from api.console.parts import ConsoleParts
from api.console.routing import fallback, routers


def install(app: FastAPI, parts: ConsoleParts) -> None:
    """Serve the console in addition to the API."""
    app.state.console = build_console(parts)
    for router in (*routers(), fallback):
        app.include_router(router)


async def close(app: FastAPI) -> None:
    """End the processes of the planner."""
    await app.state.console.planner.close()
