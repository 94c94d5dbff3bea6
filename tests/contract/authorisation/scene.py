"""One deployment with every caller, and with estates that are theirs or somebody else's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform
from tests.contract.authorisation import estates
from tests.contract.authorisation.bodies import Ids, calls_of
from tests.contract.authorisation.callers import Caller, caller_of, without_access
from tests.contract.authorisation.calls import Call
from tests.contract.authorisation.estates import Estate, sees
from tests.contract.authorisation.operations import Operation
from tests.contract.authorisation.sending import Answer, send
from tests.vetting import operator
from tests.world import Deployment, deployed, sqlite_url

UNLIMITED = {"requests_per_minute": 10**6, "burst": 10**6, "applications_per_hour": 10**6}


@dataclass(frozen=True)
class Scene:
    """`kept` estates are never changed; a call that may change something is about `spare` ones."""

    deployment: Deployment
    http: httpx2.Client
    callers: tuple[Caller, ...]
    kept: tuple[Estate, ...]
    spare: tuple[Estate, ...]

    def send(self, caller: Caller, call: Call) -> Answer:
        return send(self.http, self.deployment, caller, call)

    def caller(self, name: str) -> Caller:
        [found] = [each for each in self.callers if each.name == name]
        return found

    def own(self, caller: Caller) -> Ids:
        """Return what exists for the caller, by kind, among what calls may change."""
        found: dict[str, tuple[str, ...]] = {}
        for estate in self.spare:
            for kind, ids in estate.ids.items():
                if sees(caller, kind, estate):
                    found.setdefault(kind, ids)
        return found

    def foreign(self, caller: Caller, kind: str) -> list[str]:
        """Return what must not exist for the caller, of this kind; calls never change it."""
        return [
            each
            for estate in self.kept
            if not sees(caller, kind, estate)
            for each in estate.ids.get(kind, ())
        ]

    def calls(self, operation: Operation, caller: Caller, ids: Ids) -> list[Call]:
        return calls_of(operation, caller, self.deployment, ids)


@contextmanager
def set_scene(folder: Path, platform: Platform) -> Iterator[Scene]:
    assert isinstance(platform.people, SimulatedPlatform)
    world = platform.people.world
    options = {"embedded_worker": False, "checkpoint_seconds": 60, "two_party_candidates": 10_000}
    with deployed(sqlite_url(folder), platform, **options, **UNLIMITED) as deployment:
        owner, ours = estates.granted(deployment, world, "owner")
        foreigner, theirs = estates.granted(deployment, world, "foreigner")
        other, condemned = estates.granted(deployment, world, "condemned", answered=True)
        full = [
            (other, condemned),
            (owner, ours),
            (foreigner, theirs),
            (owner, estates.another(deployment, world, ours, owner)),
            (foreigner, estates.another(deployment, world, theirs, foreigner)),
        ]
        condemned, ours, theirs, *spare = [
            estates.waiting(deployment, who, estate) for who, estate in full
        ]
        applicants = [estates.pending(deployment, name) for name in ("applicant", "other")]
        colleague = deployment.researcher(str(ours.holder.auditor_id))
        people = {
            "colleague": colleague,
            "regulator": deployment.regulator,
            "operator": operator(deployment),
        }
        callers = {name: caller_of(name, who) for name, who in people.items()}
        hooks = [
            Estate(callers[name], {"webhook": (estates.webhook(deployment, who),)})
            for name, who in people.items()
        ]
        deployment.service.checkpointer().once()
        http = httpx2.Client(base_url=deployment.url, timeout=30)
        yield Scene(
            deployment,
            deployment.clients.enter_context(http),
            callers=(
                *without_access(deployment, ours.holder),
                *(each.holder for each in (ours, theirs, *applicants)),
                *callers.values(),
            ),
            kept=(ours, theirs, *applicants, *hooks),
            spare=(
                condemned,
                *spare,
                *applicants,
                *hooks,
            ),
        )
