"""Checks of the machine: its clock, its randomness, its disk, its memory."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from sqlalchemy import text
from sqlmodel import select

from api.db import LedgerEndRow
from api.kernel.checks import Checks, NotApplicableError
from api.operations.doctor.subject import GIB, DoctorSubject

MACHINE = Checks[DoctorSubject]()
_SKEW_SECONDS = 5.0
_PAUSE = 0.05
_DRAWN = 4096


@MACHINE.check("let a time service correct the clock slowly (chrony, systemd-timesyncd)")
def clock_runs_evenly(subject: DoctorSubject) -> str | None:
    began, ticked = subject.now(), subject.monotonic()
    time.sleep(_PAUSE)
    drift = (subject.now() - began).total_seconds() - (subject.monotonic() - ticked)
    return f"it jumped by {drift:.1f} s within {_PAUSE} s" if abs(drift) > 0.5 else None


@MACHINE.check("set the clock: it dates entries and expires tokens")
def clock_agrees_with_the_database(subject: DoctorSubject) -> str | None:
    if subject.is_sqlite:
        raise NotApplicableError("SQLite has no clock of its own")
    with subject.store.read() as session:
        told = session.execute(text("SELECT clock_timestamp()")).scalar_one()
    apart = (subject.now() - told).total_seconds()
    return f"they are {apart:.1f} s apart" if abs(apart) > _SKEW_SECONDS else None


@MACHINE.check("set the clock; until then the ledger dates entries with the time of its newest one")
def clock_is_not_behind_the_ledger(subject: DoctorSubject) -> str | None:
    with subject.store.read() as session:
        latest = session.exec(select(LedgerEndRow)).one().latest
    behind = (latest - subject.now()).total_seconds()
    return f"the ledger is {behind:.0f} s ahead of it" if behind > _SKEW_SECONDS else None


@MACHINE.check("give the machine a source of randomness; run no audit without one")
def chance_is_random(subject: DoctorSubject) -> str | None:
    if hasattr(os, "getrandom"):
        try:
            os.getrandom(1, os.GRND_NONBLOCK)
        except BlockingIOError:
            return "the system has not gathered enough randomness yet"
    first, second = subject.draw(_DRAWN), subject.draw(_DRAWN)
    ones = sum(byte.bit_count() for byte in first)
    # Ones of n = 32,768 fair bits: mean n/2, standard deviation √n/2 = 90.5; 8 of them, 1e-15.
    if first == second or abs(ones - 4 * _DRAWN) > 8 * 90.5:
        return "the bytes of the system's generator are not random"
    return None


@MACHINE.check("free disk space: a database that cannot write cannot answer")
def disk_has_room(subject: DoctorSubject) -> str | None:
    if not subject.is_sqlite:
        raise NotApplicableError(
            "the disk of PostgreSQL is not visible from here: monitor it there"
        )
    return _little_room(subject, subject.file.parent)


@MACHINE.check("free disk space for uploads that are being read")
def temporary_files_have_room(subject: DoctorSubject) -> str | None:
    return _little_room(subject, Path(tempfile.gettempdir()))


def _little_room(subject: DoctorSubject, folder: Path) -> str | None:
    free = shutil.disk_usage(folder).free
    return f"{free / GIB:.1f} GiB are free" if free < subject.free_bytes else None


@MACHINE.check(
    "set audit_memory_bytes to at most half of it, or give more memory: a charged audit would be"
    " killed with its worker repeatedly",
    warns=True,
)
def memory_is_enough(subject: DoctorSubject) -> str | None:
    """Compare the limit of one audit with half the memory.

    The other half is for the program, requests and two-party runs.
    """
    allowed, one = subject.memory(), subject.settings.audit_memory_bytes
    if 2 * one <= allowed:
        return None
    return f"one audit may take {one / GIB:.1f} GiB, this process {allowed / GIB:.1f} GiB in total"
