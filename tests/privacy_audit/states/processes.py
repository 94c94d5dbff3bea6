"""Processes of the service, each with the two-party runs that live in its memory.

The database of a state is saved as a whole; runs in memory are saved by reference, and copied when
an operation goes on with them. An auditor's end outlives the process that it speaks with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MethodType
from typing import Any

from api.two_party.platform_half import PlatformHalf
from api.two_party.runs import LiveRun, LiveRuns
from privacy.two_party import AuditorParty, PlatformParty
from privacy.two_party.messages import MessageKind, Transcript
from privacy.two_party.private_set_intersection import Blinding, DistinctPoints

# Objects that change while a run goes on. Everything else in a run never changes.
_CHANGING = (
    AuditorParty,
    PlatformParty,
    LiveRun,
    PlatformHalf,
    Transcript,
    Blinding,
    DistinctPoints,
)


@dataclass(frozen=True)
class Speaking:
    """The auditor's end of one run, the message that it sends next, and whom it names."""

    label: str
    party: AuditorParty
    message: bytes

    @property
    def stage(self) -> MessageKind:
        """The kind of the next message."""
        return self.party._exchange.message.kind


Memory = tuple[Mapping[str, LiveRun], Mapping[str, Speaking]]


@dataclass
class Process:
    """One process of the service, and the auditor's ends of the runs begun in it."""

    runs: LiveRuns = field(default_factory=LiveRuns)
    speaking: dict[str, Speaking] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: Memory) -> "Process":
        live, speaking = memory
        process = cls(speaking=dict(speaking))
        for audit_id, run in live.items():
            process.runs.add(audit_id, run)
        return process

    def save(self) -> Memory:
        return dict(self.runs._live), dict(self.speaking)

    def end(self) -> None:
        """Lose all runs: the auditors do not know it yet."""
        self.runs = LiveRuns()

    def take(self, audit_id: str) -> Speaking:
        """Copy both ends of a run, so that other branches of the search keep theirs."""
        if (run := self.runs.find(audit_id)) is not None:
            self.runs.add(audit_id, _copied(run))
        kept = self.speaking[audit_id]
        self.speaking[audit_id] = replace(kept, party=_copied(kept.party))
        return self.speaking[audit_id]


def _copied(value: Any) -> Any:
    """Copy what changes. Parties refuse to be copied by others: they hold keys."""
    if isinstance(value, _CHANGING):
        copy = object.__new__(type(value))
        vars(copy).update({name: _copied(each) for name, each in vars(value).items()})
        _rebind(copy)
        return copy
    if isinstance(value, list | dict | set):
        return value.copy()
    return Lock() if isinstance(value, type(Lock())) else value


def _rebind(copy: Any) -> None:
    """Let a party read and release by the half of its own run."""
    if isinstance(copy, LiveRun):
        for name in ("_values", "_release"):
            bound = getattr(copy.party, name)
            if isinstance(bound, MethodType):
                setattr(copy.party, name, MethodType(bound.__func__, copy.half))
