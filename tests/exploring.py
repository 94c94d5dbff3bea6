"""Shared parts of envy tests: a consenting audience, a request, and a paying auditor."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from auditor_client import Auditor
from auditor_client.transport.session import Connection
from openapi.resources import (
    Audience,
    AudienceDraft,
    EnvyFreenessRequest,
    Mandate,
    MandateDraft,
    Progress,
    SampleDraft,
    StopDraft,
)
from openapi.wire_model import Personal
from platform_sim.draws.randomness import draw_uniform
from tests.world import Deployment

NO_AUDIENCE = "audience_" + "0" * 30
# The fewest targets and arms that there may be; everybody may be drawn into any lot.
SMALL: dict[str, Any] = {
    "targets": 3,
    "arms": 2,
    "gamma": "0.9",
    "lam": "0.9",
    "delta": "0.4",
    "arms_per_person": 3,
}


def asked(audience: str = NO_AUDIENCE, **changes: Any) -> EnvyFreenessRequest:
    """Return a request with little noise on the counts, in which clearly different rewards
    decide.
    """
    fields = {
        "kind": "envy-freeness",
        "audience_id": audience,
        "alpha": "0.5",
        "tolerance": "0.3",
        "delta": "0.1",
        "gamma": "0.3",
        "lam": "0.3",
        "targets": 12,
        "arms": 17,
        "steps": 2000,
        "arms_per_person": 1,
        "epsilon": "10",
    }
    return EnvyFreenessRequest.model_validate(fields | changes)


def exploring_auditor(deployment: Deployment, loss: str = "1000000", **limits: Any) -> Auditor:
    """Return a new auditor whose mandate has this exploration limit."""
    auditor = deployment.auditor("0")
    fields = {
        "auditor_id": auditor.me().auditor_id,
        "purpose": "test",
        "kinds": ["envy-freeness", "match-count"],
        "epsilon_limit": "1000",
        "exploration_limit": loss,
        "valid_from": datetime.now(UTC) - timedelta(days=1),
        "valid_until": datetime.now(UTC) + timedelta(days=1),
    }
    draft = MandateDraft.model_validate(fields | limits)
    deployment.regulator._statements.post("/v1/regulator/mandates", "mandate", draft, Mandate)
    return auditor


def consenting_sample(auditor: Auditor, people: int = 400, *, consented: bool = True) -> Audience:
    """A sample of one group, whose members are declared to have consented."""
    draft = SampleDraft.model_validate(
        {
            "attribute": "gender",
            "groups": [{"label": "g0", "value": "woman", "size": people}],
            "consented": consented,
        }
    )
    return auditor._transport.post("/v1/audiences/samples", draft, Audience)


def stop(who: Connection, audit_id: str, role: str = "regulator") -> Progress:
    draft = StopDraft(audit_id=audit_id, reason=Personal.fresh("enough"))
    return who._statements.post(f"/v1/{role}/stops", "stop", draft, Progress)


def new_audience(auditor: Auditor, groups: list[str], **flags: Any) -> Audience:
    draft = AudienceDraft(groups=groups, **flags)
    return auditor._transport.post("/v1/audiences", draft, Audience)


class Recommendations:
    """Policies whose truth is a table: `utilities[m, n]` is what m gets from what n is shown."""

    def __init__(self, utilities: Any, step_seconds: float = 1e-6) -> None:
        self.utilities = np.asarray(utilities, np.float64)
        self.agreeing = np.ones(len(self.utilities), bool)
        self.policies_digest = "sha256:" + "1" * 64
        self.step_seconds = step_seconds
        # Of each course, target and step: which arm was shown.
        self.shown: dict[tuple[str, int, int], int] = {}
        self.calls = 0

    def consenting(self, persons: Any) -> Any:
        return self.agreeing[persons]

    def rewards(self, course: str, targets: Any, arms: Any, steps: Any) -> Any:
        """0 or 1, by a lot that is the same whenever a step is asked for."""
        self.calls += 1
        for each in zip(targets.tolist(), steps.tolist(), arms.tolist(), strict=True):
            target, step, arm = each
            assert self.shown.setdefault((course, target, step), arm) == arm
        chance = draw_uniform(1, f"reward/{course}", targets * 2**21 + steps)
        return (chance < self.utility(targets, arms)).astype(float)

    def utility(self, targets: Any, arms: Any) -> Any:
        return self.utilities[targets, arms]


class ByNumber(Recommendations):
    """People of odd numbers are served badly, and like what others are shown."""

    def __init__(self, step_seconds: float = 1e-5) -> None:
        super().__init__(np.empty((0, 0)), step_seconds)

    def consenting(self, persons: Any) -> Any:
        return np.ones(len(persons), bool)

    def utility(self, targets: Any, arms: Any) -> Any:
        return np.where((targets == arms) == (targets % 2 == 0), 0.95, 0.05)


class Notebook:
    """A journal in memory."""

    course = "audit"

    def __init__(self) -> None:
        self.states: list[bytes] = []
        self.waits: list[float] = []

    def read(self) -> bytes | None:
        return self.states[-1] if self.states else None

    def write(self, state: bytes) -> None:
        self.states.append(state)

    def wait_until(self, seconds: float, state: Callable[[], bytes]) -> None:
        self.waits.append(seconds)


def content(people: int) -> Any:
    """Everybody likes what they are shown, and hardly anything of what others are."""
    return np.where(np.eye(people, dtype=bool), 0.95, 0.05)


def envious(people: int) -> Any:
    """Everybody likes what others are shown, and hardly anything of their own."""
    return 1 - content(people)
