"""Parts of a deployment that two-party audits use."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

from api.db import Store
from api.identity.signing_keys import SigningKeys
from api.kernel.settings import Settings
from api.platforms.interfaces import Platform
from api.two_party.runs import LiveRuns
from api.web.dependencies import part


@dataclass(frozen=True)
class TwoPartyParts:
    """Parts of the service that an exchange of messages reads and writes.

    `slots` bounds the number of messages being answered: each computes for seconds, in a thread.
    """

    store: Store
    platform: Platform
    signing_keys: SigningKeys
    settings: Settings
    runs: LiveRuns
    origin: str
    slots: asyncio.Semaphore


TwoPartyDep = Annotated[TwoPartyParts, part("two_party")]
