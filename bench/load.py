"""Concurrent auditors, each with one audit after the other: submit, wait, fetch."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx2

PATIENCE = 60.0


@dataclass(frozen=True)
class Asked:
    """One audit to submit: its body, and the headers that sign it."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Load:
    """Seconds of each audit from submission to the fetched release, and of all together."""

    seconds: float
    took: Sequence[float]
    failed: int

    @property
    def rate(self) -> float:
        return len(self.took) / self.seconds


def load(urls: Sequence[str], auditors: Sequence[Sequence[Asked]]) -> Load:
    """Run the auditors, each of whom uses one of the addresses."""
    return asyncio.run(_load(urls, auditors))


async def _load(urls: Sequence[str], auditors: Sequence[Sequence[Asked]]) -> Load:
    limits = httpx2.Limits(max_connections=len(auditors))
    async with httpx2.AsyncClient(timeout=PATIENCE, limits=limits) as http:
        started = time.perf_counter()
        runs = (
            _auditor(http, urls[number % len(urls)], audits)
            for number, audits in enumerate(auditors)
        )
        found = [each for run in await asyncio.gather(*runs) for each in run]
        seconds = time.perf_counter() - started
    good = [each for each in found if each is not None]
    return Load(seconds, good, len(found) - len(good))


async def _auditor(
    http: httpx2.AsyncClient, url: str, audits: Sequence[Asked]
) -> list[float | None]:
    return [await _audit(http, url, asked) for asked in audits]


async def _audit(http: httpx2.AsyncClient, url: str, asked: Asked) -> float | None:
    """Return the seconds, or None if any request failed."""
    try:
        return await _timed(http, url, asked)
    except httpx2.HTTPError:
        return None


async def _timed(http: httpx2.AsyncClient, url: str, asked: Asked) -> float | None:
    started = time.perf_counter()
    answer = await http.post(f"{url}/v1/audits", content=asked.body, headers=dict(asked.headers))
    if answer.status_code != httpx2.codes.ACCEPTED:
        return None
    audit = f"{url}/v1/audits/{answer.json()['id']}"
    async with http.stream("GET", f"{audit}/events", headers=dict(asked.headers)) as events:
        states = [line async for line in events.aiter_lines() if line.startswith("data:")]
    if "released" not in states[-1]:
        return None
    release = await http.get(f"{audit}/release", headers=dict(asked.headers))
    return time.perf_counter() - started if release.is_success else None
