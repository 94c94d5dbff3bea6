"""Parts of a deployment that uploads use."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from api.audiences.background_matcher import Matcher
from api.db import Store
from api.kernel.settings import Settings
from api.platforms.interfaces import People
from api.web.dependencies import part


@dataclass(frozen=True)
class UploadParts:
    """Parts of the service that an upload or a sealing reads and writes.

    `slots` bounds the number of parts being parsed and audiences being sealed.
    """

    store: Store
    people: People
    settings: Settings
    matcher: Matcher
    slots: asyncio.Semaphore


UploadDep = Annotated[UploadParts, part("uploads")]
