"""Estates: the objects of one holder, by kind. Which caller sees which of them is the matrix."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sqlmodel import select

from api.db import AuditRow, EntryRow
from api.kernel.errors import NotReleasedError
from auditor_client import Auditor
from openapi.kinds.registry import BUILT_IN
from platform_sim import World
from tests.contract.authorisation.callers import Caller, caller_of
from tests.system.raw import Raw, raw, request_for, usernames
from tests.two_parties import Conversation, one
from tests.vetting import TEXTS, Applying, applying
from tests.world import Deployment

KINDS = list(BUILT_IN)
LIMITS: Mapping[str, Any] = {"kinds": KINDS, "exploration_limit": "1000000"}
# Higher than any number of the ledger, so that the webhook is never called.
NEVER = 10**15
_NUMBERS = count(1)


@dataclass(frozen=True)
class Estate:
    """Identifiers of what one holder has. The first of each kind is the usual one.

    `hidden` is true while operators must not see the application. `secrets` are texts of the
    application that nobody else may read.
    """

    holder: Caller
    ids: Mapping[str, tuple[str, ...]]
    hidden: bool = True
    secrets: tuple[str, ...] = ()

    def first(self, kind: str) -> str:
        return self.ids[kind][0]


def sees(caller: Caller, kind: str, estate: Estate) -> bool:
    """Return whether the objects of this kind exist for the caller."""
    if kind == "webhook" or (kind == "application" and caller.role in ("auditor", "applicant")):
        return caller.researcher_id == estate.holder.researcher_id
    if caller.role == "operator" and kind == "application":
        return not estate.hidden
    if caller.role in ("regulator", "operator"):
        return True
    return caller.auditor_id is not None and caller.auditor_id == estate.holder.auditor_id


def marked(**changes: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return fields of an application that occur nowhere else, and their texts."""
    number = next(_NUMBERS)
    personal = {name: {"text": f"marked {name} {number}", "salt": "A" * 43 + "="} for name in TEXTS}
    plain = {"organisation": f"marked lab {number}", "purpose": f"marked purpose {number}"}
    texts = (*plain.values(), *(each["text"] for each in personal.values()))
    return {**plain, **personal, **changes}, texts


def apply(deployment: Deployment, **changes: Any) -> tuple[Applying, tuple[str, ...]]:
    fields, texts = marked(**changes)
    return applying(deployment, **fields), texts


def pending(deployment: Deployment, name: str) -> Estate:
    """Return the estate of an applicant: one application that is not decided."""
    case, texts = apply(deployment)
    holder = caller_of(name, case.applicant)
    return Estate(holder, {"application": (case.id,)}, secrets=texts)


def granted(
    deployment: Deployment, world: World, name: str, *, answered: bool = False
) -> tuple[Auditor, Estate]:
    """Return a researcher whose application was approved, and their estate."""
    case, texts = apply(deployment, epsilon_limit="1000", **LIMITS)
    approved = case.approved()
    auditor = case.researcher()
    holder = caller_of(name, auditor)
    assert holder.auditor_id
    deployment.grant(holder.auditor_id, "1000", **LIMITS)
    mandates = sorted((each.id for each in auditor.budget().mandates), reverse=True)
    ids = {
        "application": (approved.id,),
        "auditor": (holder.auditor_id,),
        "mandate": tuple(mandates),
        **belongings(deployment, auditor, world, answered=answered),
    }
    return auditor, Estate(holder, ids, hidden=False, secrets=texts)


def another(deployment: Deployment, world: World, of: Estate, auditor: Auditor) -> Estate:
    """Return more objects of the same holder, which calls may change."""
    assert of.holder.auditor_id
    deployment.grant(of.holder.auditor_id, "1000", **LIMITS)
    newest = max(each.id for each in auditor.budget().mandates)
    more = belongings(deployment, auditor, world) | {"mandate": (newest,)}
    return replace(of, ids={**of.ids, **more})


def belongings(
    deployment: Deployment, auditor: Auditor, world: World, *, answered: bool = False
) -> dict[str, tuple[str, ...]]:
    """Make one of everything that a researcher can have."""
    me = raw(deployment, auditor)
    names = usernames(world, 40)
    groups = {"g0": names[:20], "g1": names[20:]}
    contents = [me.content() for _ in range(2)]
    opened, sealed = me.audience(groups, seal=False), me.audience(groups, consented=True)
    ordered = me.audience({"g0": names[:3]}, ordered=True)
    emptied, deleted = (me.made("/v1/audiences", {"groups": ["g0"]}) for _ in range(2))
    # 21 targets with 32 arms, and everybody in one of their audits.
    many = me.audience({"g0": usernames(world, 800)}, consented=True)
    released = _charged(me, contents[0], sealed)
    _run(deployment, released)
    colleague = deployment.researcher(str(auditor.me().auditor_id))
    audiences = (sealed, opened, ordered, many, emptied, deleted)
    return {
        "content": tuple(each["id"] for each in contents),
        "audience": tuple(each["id"] for each in audiences),
        "audit": (released, _two_party(deployment, auditor, world, answered)),
        "researcher": (colleague.researcher_id,),
        "webhook": (webhook(deployment, auditor),),
        "entry": (str(_entry(deployment, released)),),
    }


def waiting(deployment: Deployment, auditor: Auditor, estate: Estate) -> Estate:
    """Return the estate with an audit that is charged, and not run as long as nothing runs it."""
    content, audience = ({"id": estate.first(kind)} for kind in ("content", "audience"))
    charged = _charged(raw(deployment, auditor), content, audience)
    return replace(estate, ids={**estate.ids, "audit": (*estate.ids["audit"], charged)})


def webhook(deployment: Deployment, who: Any) -> str:
    draft = {"url": "https://hooks.example/", "after": NEVER}
    return str(raw(deployment, who).made("/v1/webhooks", draft)["id"])


def _charged(me: Raw, content: Mapping[str, Any], audience: Mapping[str, Any]) -> str:
    answer = me.submit(request_for(content, audience))
    assert answer.is_success, answer.text
    return str(answer.json()["id"])


def _run(deployment: Deployment, audit_id: str) -> None:
    """Run what waits until this audit is released; no worker runs by itself."""
    worker = deployment.service.worker()
    while True:
        with deployment.service.store.read() as session:
            if session.get_one(AuditRow, audit_id).state == "released":
                return
        assert worker.run_one()


def _two_party(deployment: Deployment, auditor: Auditor, world: World, answered: bool) -> str:
    """Return a two-party audit, whose run was answered and waits for the regulator, or is open."""
    people = one(auditor, world, stranger=False)
    conversation = Conversation.begin(deployment, auditor, people)
    with suppress(NotReleasedError):
        if answered:
            conversation.talk(conversation.party())
    return conversation.audit.id


def _entry(deployment: Deployment, audit_id: str) -> int:
    """Return the number of the entry that charged this audit."""
    with deployment.service.store.read() as session:
        rows = session.exec(select(EntryRow).where(EntryRow.kind == "charge")).all()
        [number] = [row.number for row in rows if audit_id in row.text]
    return int(number)
