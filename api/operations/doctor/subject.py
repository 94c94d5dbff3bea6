"""Subject of the doctor: a deployment's settings, database, machine and platform."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import make_url

from api.db import Store
from api.kernel.clock import now
from api.kernel.settings import Settings
from api.operations.doctor.memory import allowed_bytes

GIB = 1 << 30


@dataclass(frozen=True)
class DoctorSubject:
    """Deployment to check; `head` is a checkpoint that a witness or a regulator stored."""

    settings: Settings
    store: Store
    config: Path | None = None
    head: str | None = None
    now: Callable[[], datetime] = now
    monotonic: Callable[[], float] = time.monotonic
    draw: Callable[[int], bytes] = os.urandom
    free_bytes: int = GIB
    memory: Callable[[], int] = allowed_bytes

    @property
    def is_sqlite(self) -> bool:
        return make_url(self.settings.database_url).get_backend_name() == "sqlite"

    @property
    def file(self) -> Path:
        """Return the file of the SQLite database."""
        return Path(make_url(self.settings.database_url).database or ".").resolve()
