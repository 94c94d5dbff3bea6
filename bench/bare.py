"""`python -m bench.bare DATABASE_URL PORT LOOKS`: a FastAPI application without our work.

It is the baseline for the requests of one audit. It makes the same number of one-row commits as our
path, by the same ORM on the same engine. It parses the same request and checks nothing.

    POST /v1/audits               a job is written       (ours: the charge)
    a thread                      the job is claimed     (ours: the claim)
                                  its answer is written  (ours: the release)
    GET /v1/audits/{id}/events    the job's states, until it is released
    GET /v1/audits/{id}/release   its answer is read

The way in which streams learn states matters more than anything else here. With `own` looks
each stream polls the database, the obvious way. With `shared` looks all streams share one poll and
the worker notifies them, as in our service (`api.audits.events`).
"""

import asyncio
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

import uvicorn
from fastapi import FastAPI, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy import MetaData
from sqlmodel import Field, SQLModel, col, select

from api.audits.events import AuditEvents
from api.db import Store
from openapi.resources import ScoreHistogramRequest

After = Callable[[str, str], Awaitable[str]]
ANSWER = b"x" * 8_000  # the length of a release of two groups and a hundred bins


class Bare(SQLModel):
    """Base of the tables of this application."""

    metadata = MetaData()


class JobRow(Bare, table=True):
    __tablename__ = "bench_jobs"

    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    request: str


class AnswerRow(Bare, table=True):
    __tablename__ = "bench_answers"

    id: str = Field(primary_key=True)
    body: bytes


def application(store: Store, looks: str) -> FastAPI:
    wake, stop = threading.Event(), threading.Event()
    events = AuditEvents(partial(_states, store))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        thread = threading.Thread(target=_work, args=(store, wake, stop, events.publish))
        thread.start()
        yield
        stop.set()
        wake.set()
        thread.join()

    app = FastAPI(lifespan=lifespan)

    @app.get("/readyz")
    def ready() -> None:
        return None

    @app.post("/v1/audits", status_code=202)
    def submit(request: ScoreHistogramRequest) -> dict[str, str]:
        row = JobRow(id=secrets.token_hex(15), state="charged", request=request.model_dump_json())
        with store.write() as session:
            session.add(row)
        wake.set()
        return {"id": row.id, "state": row.state}

    @app.get("/v1/audits/{job}/events")
    async def follow(job: str) -> Response:
        first = (await run_in_threadpool(_states, store, [job]))[job]
        after = events.next_state if looks == "shared" else partial(_after, store)
        return StreamingResponse(_events(after, job, first), media_type="text/event-stream")

    @app.get("/v1/audits/{job}/release")
    def answer(job: str) -> Response:
        with store.read() as session:
            return Response(session.get_one(AnswerRow, job).body, media_type="application/json")

    return app


async def _events(after: After, job: str, state: str) -> AsyncIterator[str]:
    yield _event(state)
    while state != "released":
        state = await after(job, state)
        yield _event(state)


async def _after(store: Store, job: str, shown: str) -> str:
    pause = 0.02
    while (state := (await run_in_threadpool(_states, store, [job]))[job]) == shown:
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 0.5)
    return state


def _event(state: str) -> str:
    return f"event: progress\ndata: {state}\n\n"


def _states(store: Store, jobs: Collection[str]) -> dict[str, str]:
    with store.read() as session:
        query = select(JobRow.id, JobRow.state).where(col(JobRow.id).in_(jobs))
        return dict(session.exec(query).all())


def _work(
    store: Store, wake: threading.Event, stop: threading.Event, moved: Callable[[str, str], None]
) -> None:
    while not stop.is_set():
        if not _work_once(store, moved):
            wake.wait(0.5)
            wake.clear()


def _work_once(store: Store, moved: Callable[[str, str], None]) -> bool:
    query = select(JobRow).where(JobRow.state == "charged").limit(1)
    with store.write() as session:
        job = session.exec(query.with_for_update(skip_locked=True)).first()
        if job is None:
            return False
        job.state = "running"
        session.add(job)
    moved(job.id, job.state)
    with store.write() as session:
        session.add(AnswerRow(id=job.id, body=ANSWER))
        job.state = "released"
        session.add(job)
    moved(job.id, job.state)
    return True


def main() -> None:
    url, port, looks = sys.argv[1:]
    uvicorn.run(
        application(Store(url), looks), port=int(port), log_config=None, server_header=False
    )


if __name__ == "__main__":
    main()
