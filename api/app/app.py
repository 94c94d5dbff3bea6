"""The application: routes, problem responses, limits, and the embedded worker."""

import json
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.metadata import version

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from fastapi.routing import APIRoute

from api.accounts import routes as accounts
from api.app.access_log import AccessLog
from api.app.capacity import Capacity
from api.app.container import Container
from api.app.early_shedding import EarlyShedding
from api.app.gate import Gate
from api.audiences import routes as audiences
from api.audits import charge_routes as charges
from api.audits import routes as audits
from api.catalogue import routes as catalogue
from api.console import installation as console
from api.contents import routes as contents
from api.health import routes as health
from api.identity import oauth_routes as oauth
from api.ledger import routes as ledger
from api.ledger.platform_changes import record_kinds, record_state
from api.mandates import routes as mandates
from api.oversight import routes as oversight
from api.studies import routes as studies
from api.two_party import routes as two_party
from api.vetting import me_routes as me
from api.vetting import regulator_routes as vetting
from api.vetting import routes as applications
from api.web import problem_responses
from api.webhooks import routes as webhooks

log = logging.getLogger(__name__)

DESCRIPTION = (
    "Vetted researchers audit a platform's relevance estimators under differential privacy; "
    "regulators grant mandates and watch every charge. Problems follow RFC 9457."
)
ROUTERS = (
    catalogue.router,
    health.router,
    contents.router,
    audiences.router,
    audits.router,
    two_party.router,
    studies.router,
    mandates.budget,
    accounts.router,
    mandates.regulator,
    charges.router,
    two_party.regulator,
    oversight.router,
    ledger.operator,
    applications.router,
    vetting.regulator,
    vetting.operator,
    me.router,
    webhooks.router,
    ledger.router,
    oauth.router,
)


def create_app(container: Container) -> FastAPI:
    # The built-in documentation pages would load scripts of other sites into the console's origin.
    # A redirect to the same path with a slash would repeat the caller's `Host`.
    app = describe(
        FastAPI(
            lifespan=_lifespan(container),
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            redirect_slashes=False,
        )
    )
    _serve_contract(app)
    app.state.container = container
    app.state.auth = container.auth
    sessions = None
    if container.settings.console:
        sessions = console.install(app, container)
    authenticate = container.auth.authenticator.authenticate
    app.state.early = EarlyShedding()
    app.add_middleware(
        Gate,
        settings=container.settings,
        authenticate=authenticate,
        sessions=sessions,
        early=app.state.early,
        backlog=container.backlog,
    )
    app.add_middleware(AccessLog)
    return app


def describe(app: FastAPI) -> FastAPI:
    """Add everything in the OpenAPI document: routes and problems, without a deployment."""
    app.title = "Platform auditor"
    app.version = version("platform-auditor")
    app.description = DESCRIPTION
    app.router.generate_unique_id_function = _operation_id
    for router in ROUTERS:
        app.include_router(router, generate_unique_id_function=_operation_id)
    problem_responses.install(app)
    return app


def _serve_contract(app: FastAPI) -> None:
    """Serve the OpenAPI document, encoded once: FastAPI would encode it for every request."""

    @cache
    def encoded() -> bytes:
        return json.dumps(app.openapi(), separators=(",", ":")).encode()

    async def get_contract() -> Response:
        return Response(encoded(), media_type="application/json")

    app.add_api_route("/openapi.json", get_contract, include_in_schema=False)


def _operation_id(route: APIRoute) -> str:
    return route.name


def _lifespan(container: Container) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Run the embedded worker, and sign checkpoints, while the application runs."""
        capacity = Capacity.from_settings(container.settings)
        current_default_thread_limiter().total_tokens = capacity.threads
        try:
            await run_in_threadpool(
                record_state, container.store, container.settings, container.platform
            )
            enabled = [package.facts for package in container.packages]
            await run_in_threadpool(record_kinds, container.store, enabled)
        except Exception:
            log.exception("start.failed")
            raise
        stop = threading.Event()
        checkpoints = threading.Thread(
            target=container.checkpointer().run, args=(stop,), name="checkpoints"
        )
        pusher = threading.Thread(target=container.pusher().run, args=(stop,), name="webhooks")
        heartbeat = container.heartbeat()
        await run_in_threadpool(heartbeat.beat)
        presence = threading.Thread(target=heartbeat.run, args=(stop,), name="presence")
        rates = threading.Thread(target=container.rates.run, args=(stop,), name="rates")
        threads = [checkpoints, pusher, presence, rates]
        worker_thread = container.worker_thread
        for thread in threads:
            thread.start()
        if container.settings.embedded_worker:
            worker_thread.start()
        try:
            yield
        finally:
            if container.settings.console:
                await console.close(app)
            await run_in_threadpool(worker_thread.stop)
            await run_in_threadpool(container.matcher.drain, container.settings.shutdown_seconds)
            stop.set()
            for thread in threads:
                await run_in_threadpool(thread.join)
            container.store.close()

    return lifespan
