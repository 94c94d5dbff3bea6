"""One auditor's belongings, another auditor, a regulator and an operator, at one service."""

import time
from dataclasses import dataclass
from typing import Any

from auditor_client.transport.session import Connection
from openapi.kinds.registry import BUILT_IN
from platform_sim import World
from tests.system.raw import Raw, raw, request_for, usernames
from tests.world import Deployment


@dataclass(frozen=True)
class Scene:
    """`me` owns everything here, `other` is of another auditor."""

    deployment: Deployment
    world: World
    me: Raw
    other: Raw
    regulator: Raw
    operator: Raw
    auditor_id: str
    content: dict[str, Any]
    opened: dict[str, Any]
    sealed: dict[str, Any]
    audit: dict[str, Any]

    def request(self, **changes: object) -> dict[str, Any]:
        """The body of a small audit of these belongings, changed as told."""
        return request_for(self.content, self.sealed, **changes)


def set_scene(deployment: Deployment, world: World) -> Scene:
    kinds = list(BUILT_IN)
    owner = deployment.auditor(epsilon="30", kinds=kinds, exploration_limit="100000")
    me = raw(deployment, owner)
    names = usernames(world, 40)
    groups = {"g0": names[:20], "g1": names[20:]}
    content, sealed = me.content(), me.audience(groups, consented=True)
    audit = me.submit(request_for(content, sealed)).json()
    assert wait(me, audit["id"]) == "released"
    return Scene(
        deployment=deployment,
        world=world,
        me=me,
        other=raw(deployment, deployment.auditor()),
        regulator=raw(deployment, deployment.regulator),
        operator=operator_of(deployment),
        auditor_id=owner.budget().mandates[0].auditor_id,
        content=content,
        opened=me.audience(groups, seal=False),
        sealed=sealed,
        audit=audit,
    )


def operator_of(deployment: Deployment) -> Raw:
    connection = Connection(deployment.url, deployment.operator_id, deployment.operator_key)
    return raw(deployment, deployment.clients.enter_context(connection))


def wait(who: Raw, audit_id: str, *states: str) -> str:
    """The state of an audit once it is one of these, or final."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        state = str(who.get(f"/v1/audits/{audit_id}").json()["state"])
        if state in (*states, "released", "failed", "cancelled"):
            return state
        time.sleep(0.02)
    raise AssertionError(f"{audit_id} is not finished")


def run(me: Raw, body: dict[str, Any]) -> str:
    """An audit to its release; its identifier."""
    answer = me.submit(body)
    assert answer.is_success, answer.text
    assert wait(me, answer.json()["id"]) == "released"
    return str(answer.json()["id"])
