"""`python -m bench.bare DATABASE_URL PORT`: a FastAPI application with nothing of ours in it.

What it is beside: the requests of one audit, and as many one-row commits as our path makes, by the
same ORM on the same engine. It parses the same request and checks nothing.

    POST /v1/audits               a job is written       (ours: the charge)
    a thread                      the job is claimed     (ours: the claim)
                                  its answer is written  (ours: the release)
    GET /v1/audits/{id}/events    the job's state is read as often as ours
    GET /v1/audits/{id}/release   its answer is read
"""

import asyncio
import secrets
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlmodel import Field, SQLModel, select

from api.store import Store
from openapi.models import ScoreHistogramRequest

ANSWER = b"x" * 8_000  # as long as a release of two groups and a hundred bins


class JobRow(SQLModel, table=True):
    __tablename__ = "bench_jobs"

    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    request: str


class AnswerRow(SQLModel, table=True):
    __tablename__ = "bench_answers"

    id: str = Field(primary_key=True)
    body: bytes


def application(store: Store) -> FastAPI:
    wake, stop = threading.Event(), threading.Event()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        thread = threading.Thread(target=_work, args=(store, wake, stop))
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
        return StreamingResponse(_events(store, job), media_type="text/event-stream")

    @app.get("/v1/audits/{job}/release")
    def answer(job: str) -> Response:
        with store.read() as session:
            return Response(session.get_one(AnswerRow, job).body, media_type="application/json")

    return app


async def _events(store: Store, job: str) -> AsyncIterator[str]:
    shown, pause = None, 0.02
    while shown != "released":
        state = await run_in_threadpool(_state, store, job)
        if state != shown:
            yield f"event: progress\ndata: {state}\n\n"
            shown = state
        else:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.5)


def _state(store: Store, job: str) -> str:
    with store.read() as session:
        return session.exec(select(JobRow.state).where(JobRow.id == job)).one()


def _work(store: Store, wake: threading.Event, stop: threading.Event) -> None:
    while not stop.is_set():
        if not _work_once(store):
            wake.wait(0.05)
            wake.clear()


def _work_once(store: Store) -> bool:
    query = select(JobRow).where(JobRow.state == "charged").limit(1)
    with store.write() as session:
        job = session.exec(query.with_for_update(skip_locked=True)).first()
        if job is None:
            return False
        job.state = "running"
        session.add(job)
    with store.write() as session:
        session.add(AnswerRow(id=job.id, body=ANSWER))
        job.state = "released"
        session.add(job)
    return True


def main() -> None:
    url, port = sys.argv[1:]
    uvicorn.run(application(Store(url)), port=int(port), log_config=None, server_header=False)


if __name__ == "__main__":
    main()
