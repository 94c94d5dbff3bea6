"""Parts of a deployment that console pages use."""

import threading
from typing import Protocol

from api.audiences.dependencies import UploadParts
from api.audits.event_streams import EventStreams
from api.audits.submission import AuditSubmission
from api.db import Store
from api.identity.signing_keys import SigningKeys
from api.kernel.settings import Settings
from api.platforms.interfaces import Platform
from api.vetting.calendar import Calendar
from api.vetting.dependencies import InterventionParts
from api.web.shared_rates import SharedRates


class ConsoleParts(Protocol):
    """Deployment with the parts that the console uses."""

    @property
    def rates(self) -> SharedRates: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def signing_keys(self) -> SigningKeys: ...
    @property
    def origin(self) -> str: ...
    @property
    def wake(self) -> threading.Event: ...
    @property
    def streams(self) -> EventStreams: ...
    @property
    def submissions(self) -> AuditSubmission: ...
    @property
    def uploads(self) -> UploadParts: ...
    @property
    def calendar(self) -> Calendar: ...
    @property
    def interventions(self) -> InterventionParts: ...
