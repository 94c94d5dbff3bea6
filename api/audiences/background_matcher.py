"""Background matching: an accepted part is matched in memory, and delivered at a public time (R2).

A part is accepted before it is matched, so that no response waits for the platform. Its result is
written when its public time is over, never before: `api.platforms.public_pace`. A part that is late
is written at the next public time. A metric and the log tell the operator. An auditor who seals the
audience meanwhile sees the number of steps it took. Identifiers are in memory alone. If a process
ends with unmatched parts, they stay claimed. Long after their public time they count as lost and
must be sent again. After a few attempts, an outage of the platform has the same effect.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property

from api.audiences import uploads
from api.audiences.matching import count_matching_work, match_isolating_failures
from api.audiences.matching_slots import MatchingSlots, Ticket
from api.audiences.parsing import Members
from api.audiences.uploads import ClaimedPart
from api.db import UNAVAILABLE, Store
from api.kernel.errors import UnavailableError
from api.kernel.settings import Settings
from api.platforms.interfaces import People, Persons
from api.platforms.public_pace import Pace
from api.telemetry.metrics import LATE_PARTS

ATTEMPTS = 4
# Seconds after which the next public time of a late part is recorded.
HEARTBEAT = uploads.GRACE.total_seconds() / 3
MOST_PARTS, MOST_BYTES = 16, 256 * 1024 * 1024
# Matching slots per part that may be read at once: parts are matched while others are read.
SLOTS_PER_UPLOAD = 2

log = logging.getLogger(__name__)


@dataclass
class Matcher:
    """Parts that this process has accepted, each until it is recorded at a public time.

    They hold slots, which auditors share (`api.audiences.matching_slots`). All of them are matched
    at once: a part that waited for another would be late by the other's matching time.
    """

    store: Store
    people: People
    settings: Settings
    pace: Pace
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @cached_property
    def slots(self) -> MatchingSlots:
        """Return the slots of this process."""
        parts = min(MOST_PARTS, SLOTS_PER_UPLOAD * self.settings.uploads_at_once)
        return MatchingSlots(parts, MOST_BYTES)

    def duration(self, members: Members) -> float:
        """Return the public duration of matching these identifiers, in seconds."""
        return self.pace.duration(count_matching_work(members))

    def begin(self, part: ClaimedPart, ticket: Ticket) -> None:
        """Match a part, which holds a slot, in a thread of its own."""
        given = part, ticket
        threading.Thread(target=self._run, args=given, name="matcher", daemon=True).start()

    def drain(self, seconds: float) -> None:
        """Wait until no part is left, or until `seconds` have passed."""
        self.slots.drain(seconds)

    def _run(self, part: ClaimedPart, ticket: Ticket) -> None:
        try:
            self.see_to(part)
        except Exception:  # the part is lost, and sealing the audience reports it
            log.exception("matching.error")
        finally:
            self.slots.leave(ticket)

    def see_to(self, part: ClaimedPart) -> None:
        """Match a part and record the people it found, at one of its public times."""
        begun, duration, attempts = self.clock(), part.seconds, 1
        result, known = self._start(part), part.seconds
        while True:
            self.sleep(max(0.0, begun + duration - self.clock()))
            if not result.done():
                duration = self._late(part, duration)
            elif result.exception() is None:
                if self._delivered(part, result.result()):
                    return
                duration *= 2
            elif attempts == ATTEMPTS or not isinstance(result.exception(), UnavailableError):
                log.error("matching.lost", exc_info=result.exception())
                uploads.give_up_part(self.store, part)
                return
            else:
                attempts, duration, result = attempts + 1, 2 * duration, self._start(part)
            if duration > known + HEARTBEAT:  # long before the part would count as lost
                self._postpone(part, begun + duration - self.clock())
                known = duration

    def _start(self, part: ClaimedPart) -> Future[Persons]:
        result: Future[Persons] = Future()

        def fulfil() -> None:
            try:
                result.set_result(match_isolating_failures(self.people, part.members))
            except BaseException as error:  # the thread that waits for the result handles it
                result.set_exception(error)

        threading.Thread(target=fulfil, name="match", daemon=True).start()
        return result

    def _late(self, part: ClaimedPart, duration: float) -> float:
        if duration == part.seconds:
            LATE_PARTS.inc()
            identifiers = len(part.members.identifiers)
            facts = {"identifiers": identifiers, "seconds": round(duration, 3)}
            log.warning("matching.late", extra=facts)
        return self.pace.extend(count_matching_work(part.members), duration)

    def _delivered(self, part: ClaimedPart, found: Persons) -> bool:
        """Record the result; return False if the database is unavailable."""
        try:
            uploads.store_matches(self.store, part, found)
        except UNAVAILABLE:
            log.warning("matching.database")
            return False
        return True

    def _postpone(self, part: ClaimedPart, seconds: float) -> None:
        try:
            uploads.postpone_part(self.store, part, seconds)
        except UNAVAILABLE:
            log.warning("matching.database")
