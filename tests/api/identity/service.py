"""A real service on a socket: the OAuth routes and one protected route per role."""

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64encode
from pydantic import SecretStr

from api.db import Store
from api.identity import Auth, Caller, SigningKeys, build_auth
from api.identity.oauth_routes import router
from api.identity.roles import AuditorDep, CallerDep, OperatorDep, RegulatorDep
from api.kernel.errors import ApiError
from api.kernel.settings import OutsideIssuer, Settings
from api.ledger.key_rotation import KeyEntries
from openapi.resources import KeyPurpose
from tests.databases import prepare

_http = httpx2.Client(verify=False, headers={"Connection": "close"})


@dataclass(frozen=True)
class Service:
    url: str
    store: Store
    auth: Auth
    settings: Settings
    app: FastAPI

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        return _http.post(self.url + path, data=fields, headers=headers)

    def get(self, path: str, token: str | None = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return _http.get(self.url + path, headers=headers)


def rotate(keys: SigningKeys, store: Store, purpose: KeyPurpose) -> OKPKey:
    """A new key, by nobody in particular."""
    with store.write() as session:
        made = keys.rotate(session, purpose, "a test")
    keys.refresh()
    return made


@contextmanager
def running(database: Path, outside: OutsideIssuer | None = None) -> Iterator[Service]:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings = Settings(
        database_url=f"sqlite:///{database}",
        issuer=url,
        key_encryption_key=SecretStr(urlsafe_b64encode(secrets.token_bytes(32)).decode()),
        outside_issuer=outside,
    )
    store = Store(settings.database_url)
    prepare(store)
    auth = build_auth(store, settings, KeyEntries())
    app = _app(auth)
    with _serving(app, listener):
        yield Service(url, store, auth, settings, app)
    store.close()


@contextmanager
def _serving(app: FastAPI, listener: socket.socket) -> Iterator[None]:
    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _app(auth: Auth) -> FastAPI:
    app = FastAPI()
    app.state.auth = auth
    app.include_router(router)
    app.add_exception_handler(ApiError, _problem)

    @app.get("/anyone")
    def anyone(caller: CallerDep) -> Caller:
        return caller

    @app.get("/auditor")
    def auditor(caller: AuditorDep) -> Caller:
        return caller

    @app.get("/regulator")
    def regulator(caller: RegulatorDep) -> Caller:
        return caller

    @app.get("/operator")
    def operator(caller: OperatorDep) -> Caller:
        return caller

    return app


def _problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    problem: dict[str, Any] = error.problem().model_dump()
    return JSONResponse(problem, status_code=problem["status"], headers=error.headers)
