"""The application: routes, problems, limits, and the embedded worker."""

import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from api import console, problems
from api.access_log import AccessLog
from api.auth import build_auth
from api.ledger.changes import record_state
from api.limits import BodyLimit, Buckets, RateLimited
from api.platform import Platform
from api.routes import (
    applications,
    audiences,
    audits,
    contents,
    insight,
    ledger,
    oauth,
    oversight,
    people,
    public,
    studies,
    two_party,
    vetting,
    webhooks,
)
from api.service import Service
from api.settings import Settings
from api.store import Store

log = logging.getLogger(__name__)

DESCRIPTION = (
    "Vetted researchers audit a platform's relevance estimators under differential privacy; "
    "regulators grant mandates and watch every charge. Problems follow RFC 9457."
)
ROUTERS = (
    public.router,
    contents.router,
    audiences.router,
    audits.router,
    two_party.router,
    studies.router,
    oversight.budget,
    oversight.regulator,
    two_party.regulator,
    insight.router,
    oversight.operator,
    applications.router,
    vetting.regulator,
    vetting.operator,
    people.router,
    webhooks.router,
    ledger.router,
    oauth.router,
)


def build_service(settings: Settings, platform: Platform) -> Service:
    """The parts of one deployment, from its settings."""
    store = Store(settings.database_url)
    auth = build_auth(store, settings)
    auth = replace(auth, authenticator=RateLimited(auth.authenticator, settings))
    strangers = Buckets(settings.applications_per_hour / 60, settings.applications_per_hour)
    return Service(settings, store, platform, auth, strangers)


def create_app(service: Service) -> FastAPI:
    app = describe(FastAPI(lifespan=_lifespan(service)))
    app.state.service = service
    app.state.auth = service.auth
    if service.settings.console:
        console.install(app, service)
    app.add_middleware(BodyLimit, settings=service.settings)
    app.add_middleware(AccessLog)
    return app


def describe(app: FastAPI) -> FastAPI:
    """Everything the contract is made of: routes and problems, without a deployment."""
    app.title = "Platform auditor"
    app.version = version("platform-auditor")
    app.description = DESCRIPTION
    app.router.generate_unique_id_function = _operation_id
    for router in ROUTERS:
        app.include_router(router, generate_unique_id_function=_operation_id)
    problems.install(app)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _lifespan(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Run the embedded worker, and sign the ledger's head, for as long as the application."""
        try:
            await run_in_threadpool(record_state, service.store, service.settings, service.platform)
        except Exception:
            log.exception("start.failed")
            raise
        if service.settings.console:
            console.warm()
        stop = threading.Event()
        checkpoints = threading.Thread(
            target=service.checkpointer().run, args=(stop,), name="checkpoints"
        )
        pusher = threading.Thread(target=service.pusher().run, args=(stop,), name="webhooks")
        presence = threading.Thread(target=service.presence().run, args=(stop,), name="presence")
        threads = [checkpoints, pusher, presence]
        shift = service.shift
        for thread in threads:
            thread.start()
        if service.settings.embedded_worker:
            shift.begin()
        try:
            yield
        finally:
            await run_in_threadpool(shift.end)
            stop.set()
            for thread in threads:
                await run_in_threadpool(thread.join)
            service.store.close()

    return lifespan
