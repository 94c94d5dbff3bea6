"""Container: all parts of one deployment, built once. No other module knows them all.

Routes read single parts by the dependencies of their domain (`api.web.dependencies.part`).
"""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from api.app.capacity import Capacity
from api.audiences.background_matcher import Matcher
from api.audiences.dependencies import UploadParts
from api.audiences.expiry import purge_expired
from api.audits import queries
from api.audits.event_streams import EventStreams
from api.audits.events import AuditEvents
from api.audits.queue.backlog import Backlog
from api.audits.queue.heartbeats import Heartbeat
from api.audits.queue.worker import Worker
from api.audits.queue.worker_thread import WorkerThread
from api.audits.submission import AuditSubmission
from api.db import SERVING_LIMITS, Store
from api.execution.in_process import InProcessEngine
from api.health.queue_gauges import update_queue_gauges, watch_pool
from api.identity import Auth, build_auth
from api.identity.rate_limit import RateLimitedAuthenticator
from api.identity.signing_keys import SigningKeys
from api.kernel.settings import Settings, ledger_origin
from api.kinds.context import Engine
from api.kinds.packages import Package
from api.ledger.checkpoints import Checkpointer
from api.ledger.key_rotation import KeyEntries
from api.platforms.interfaces import Platform
from api.platforms.public_pace import Pace
from api.telemetry.readiness import WriteRecord
from api.two_party.delivery import deliver_all_releases
from api.two_party.dependencies import TwoPartyParts
from api.two_party.runs import LiveRuns
from api.two_party.timeouts import end_stale_runs
from api.vetting.calendar import Calendar
from api.vetting.dependencies import InterventionParts
from api.web.shared_rates import SharedRates
from api.web.token_buckets import Rate, TokenBuckets
from api.webhooks.delivery import Sender
from api.webhooks.push_loop import Pusher


@dataclass(frozen=True)
class Container:
    """Parts of one deployment."""

    settings: Settings
    store: Store
    platform: Platform
    engine: Engine
    auth: Auth
    rates: SharedRates
    # Rate limits of applications, counted by network, because their senders are not known.
    strangers: TokenBuckets
    # Set when an audit was charged, so that an embedded worker starts on it at once.
    wake: threading.Event = field(default_factory=threading.Event)
    # Two-party runs in progress in this process.
    runs: LiveRuns = field(default_factory=LiveRuns)
    # Audits that wait for a worker, by this process's latest count.
    backlog: Backlog = field(default_factory=Backlog)
    # Packages whose kinds of audit this deployment offers.
    packages: tuple[Package, ...] = ()

    @cached_property
    def events(self) -> AuditEvents:
        """Streams that wait for the next state of an audit."""
        return AuditEvents(partial(queries.load_states, self.store))

    @cached_property
    def streams(self) -> EventStreams:
        """Event streams of this process's clients."""
        return EventStreams(self.store, self.events, self.settings)

    @cached_property
    def submissions(self) -> AuditSubmission:
        """The service that charges audits."""
        return AuditSubmission(self.store, self.platform, self.settings, self.backlog)

    @cached_property
    def matcher(self) -> Matcher:
        """Background matcher of accepted parts, at the declared pace."""
        pace = Pace(self.settings.match_seconds, self.settings.match_rate)
        return Matcher(self.store, self.platform.people, self.settings, pace)

    @cached_property
    def uploads(self) -> UploadParts:
        # Waiting for a slot needs no thread.
        slots = asyncio.Semaphore(self.settings.uploads_at_once)
        people = self.platform.people
        return UploadParts(self.store, people, self.settings, self.matcher, slots)

    @cached_property
    def worker_thread(self) -> WorkerThread:
        """The thread of the embedded worker."""
        return WorkerThread(self.worker(), self.wake)

    @cached_property
    def writes(self) -> WriteRecord:
        """Results of background writes, which `/readyz` reports."""
        return WriteRecord(self.settings.heartbeat_seconds)

    @property
    def signing_keys(self) -> SigningKeys:
        return self.auth.keys

    @property
    def origin(self) -> str:
        """Name of the ledger, which every signed request states."""
        return ledger_origin(self.settings)

    @property
    def calendar(self) -> Calendar:
        return Calendar.from_settings(self.settings)

    @cached_property
    def two_party(self) -> TwoPartyParts:
        slots = asyncio.Semaphore(Capacity.from_settings(self.settings).exchanges)
        parts = self.store, self.platform, self.signing_keys, self.settings, self.runs
        return TwoPartyParts(*parts, self.origin, slots)

    @property
    def interventions(self) -> InterventionParts:
        return InterventionParts(self.store, self.settings, self.wake)

    def checkpointer(self) -> Checkpointer:
        seconds = self.settings.checkpoint_seconds
        return Checkpointer(self.store, self.signing_keys, self.origin, seconds)

    def pusher(self) -> Pusher:
        sender = Sender(private=self.settings.webhook_private_hosts)
        return Pusher(self.store, self.signing_keys, sender, self.settings.poll_seconds)

    def heartbeat(self, *, serves: bool = True) -> Heartbeat:
        """Return the heartbeat of this process; a process that serves no requests runs audits."""
        watch_pool(self.store)
        works = not serves or self.settings.embedded_worker
        refresh = partial(update_queue_gauges, self.store)
        return Heartbeat(self.store, serves, works, self.writes, refresh)

    def worker(self) -> Worker:
        parts = self.store, self.platform, self.signing_keys, self.settings
        tasks = (
            partial(purge_expired, self.store),
            partial(end_stale_runs, self.store, self.settings),
            partial(deliver_all_releases, *parts),
        )
        return Worker(*parts, self.engine, on_state_change=self.events.publish, tasks=tasks)


def build_container(
    settings: Settings, platform: Platform, engine: Engine | None = None
) -> Container:
    """Build the parts of one deployment. Without an engine, this process reads the people."""
    store = Store(
        settings.database_url, Capacity.from_settings(settings).connections, SERVING_LIMITS
    )
    auth = build_auth(store, settings, KeyEntries())
    rates = SharedRates(store, settings)
    requests = rates.buckets("requests", Rate(settings.requests_per_minute, settings.burst))
    auth = replace(auth, authenticator=RateLimitedAuthenticator(auth.authenticator, requests))
    hourly = Rate(settings.applications_per_hour / 60, settings.applications_per_hour)
    strangers = rates.buckets("applications", hourly)
    return Container(
        settings, store, platform, engine or InProcessEngine(platform), auth, rates, strangers
    )
