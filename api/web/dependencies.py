"""FastAPI dependencies that read one named part of the deployment from `app.state`.

None of them waits, so none needs a thread. Parts that only one domain uses are declared with that
domain's routes, by `part`.
"""

from typing import Annotated, Any

from fastapi import Depends, Request
from sqlmodel import Session

from api.db import Store
from api.kernel.settings import Settings
from api.platforms.interfaces import Platform


def part(name: str) -> Any:
    """Return the dependency that reads the part of this name."""

    async def read(request: Request) -> Any:
        return getattr(request.app.state.container, name)

    return Depends(read)


StoreDep = Annotated[Store, part("store")]
SettingsDep = Annotated[Settings, part("settings")]
PlatformDep = Annotated[Platform, part("platform")]
# Name of the ledger, which every signed request states.
OriginDep = Annotated[str, part("origin")]


async def _session(store: StoreDep) -> Session:
    return store.reading_session()


# A session that connects at the first query. `api.web.routing.Route` closes it after the endpoint.
ReadDep = Annotated[Session, Depends(_session)]
