"""Parts of a deployment that vetting uses."""

import threading
from dataclasses import dataclass
from typing import Annotated

from api.db import Store
from api.kernel.settings import Settings
from api.vetting.calendar import Calendar
from api.web.dependencies import part
from api.web.token_buckets import TokenBuckets

CalendarDep = Annotated[Calendar, part("calendar")]
# Rate limits of applications, counted by network.
StrangersDep = Annotated[TokenBuckets, part("strangers")]


@dataclass(frozen=True)
class InterventionParts:
    """Parts that an intervention changes: the database, and the worker that it may wake."""

    store: Store
    settings: Settings
    wake: threading.Event


InterventionDep = Annotated[InterventionParts, part("interventions")]
