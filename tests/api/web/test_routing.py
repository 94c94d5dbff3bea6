"""Connections of routes: none is held when an endpoint has returned, nor while it is serialised."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from inspect import iscoroutinefunction, signature
from types import SimpleNamespace
from typing import get_args

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, field_serializer
from sqlalchemy import QueuePool, text
from sqlmodel import Session
from starlette.routing import BaseRoute

from api.app.app import create_app
from api.app.container import build_container
from api.db import Store
from api.platforms.interfaces import Platform
from api.web.dependencies import ReadDep
from api.web.routing import Route, router
from tests.databases import prepare
from tests.world import make_settings


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    with closing(Store(new_database())) as made:
        prepare(made)
        yield made


def held(store: Store) -> int:
    """Connections that somebody has."""
    pool = store.engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout()


def test_an_endpoint_gives_its_connection_back_when_it_returns(store: Store) -> None:
    seen: list[int] = []

    def endpoint(session: ReadDep) -> int:
        session.execute(text("SELECT 1"))
        seen.append(held(store))
        return 1

    session = store.reading_session()
    assert Route("/", endpoint).endpoint(session=session) == 1
    assert (seen, held(store)) == ([1], 0)


def test_an_endpoint_that_raises_gives_its_connection_back(store: Store) -> None:
    def endpoint(session: ReadDep) -> int:
        session.execute(text("SELECT 1"))
        raise KeyError

    session = store.reading_session()
    with pytest.raises(KeyError):
        Route("/", endpoint).endpoint(session=session)
    assert held(store) == 0


def test_no_connection_is_held_while_an_answer_is_serialised(store: Store) -> None:
    seen: list[int] = []

    class Answer(BaseModel):
        value: int

        @field_serializer("value")
        def note(self, value: int) -> int:
            seen.append(held(store))
            return value

    routes = router()

    @routes.get("/")
    def endpoint(session: ReadDep) -> Answer:
        session.execute(text("SELECT 1"))
        return Answer(value=held(store))

    app = FastAPI()
    app.include_router(routes)
    app.state.container = SimpleNamespace(store=store)

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get("/")

    answer = asyncio.run(ask())
    assert answer.json() == {"value": 1}
    assert seen
    assert set(seen) == {0}


def routes_of(routes: Iterable[BaseRoute]) -> Iterator[APIRoute]:
    """Yield routes; FastAPI keeps those of an included router with that router."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from routes_of(included.routes)
        elif isinstance(route, APIRoute):
            yield route


def takes_session(route: APIRoute) -> bool:
    annotations = [each.annotation for each in signature(route.endpoint).parameters.values()]
    return any(Session in (each, *get_args(each)) for each in annotations)


def test_every_route_with_a_session_ends_it(platform: Platform) -> None:
    service = build_container(make_settings("sqlite://", "http://127.0.0.1:1"), platform)
    found = [each for each in routes_of(create_app(service).routes) if takes_session(each)]
    service.store.close()
    assert len(found) > 20
    for route in found:
        assert not iscoroutinefunction(route.endpoint), route.path
        assert hasattr(route.endpoint, "ends_sessions"), route.path
