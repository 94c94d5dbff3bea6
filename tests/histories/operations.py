"""Operations of a client, carried out by the SDK."""

import base64
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any

import pyarrow as pa

from auditor_client import Auditor
from auditor_client.audiences.client import NamedAudience
from auditor_client.errors import (
    ConnectionBrokenError,
    NotCancellableError,
    PartsLostError,
    ProblemError,
)
from auditor_client.ledger import make_trust
from auditor_client.ledger.seen_checkpoints import seen
from openapi.resources import REQUEST
from privacy.ledger.trust import Trust
from tests.histories.belongings import SIZES, UPLOADED, Asked, Said
from tests.histories.plan import Does

# Told of an audience that an upload has begun, before its first member is sent.
Note = Callable[[str], None]


class Operations:
    """Everything that a client can do; each returns what its history has to say of the answer."""

    def __init__(self, auditor: Auditor, regulator: tuple[str, dict[str, Any]]) -> None:
        self._auditor, self._regulator = auditor, regulator
        self._known_trust: Trust | None = None

    def until_written(self) -> AbstractContextManager[None]:
        """Keep the SDK's records until the answer is in the history."""
        return self._auditor.audits.until_saved()

    def perform(self, does: Does, asked: Asked, note: Note) -> Said:
        actions: dict[Does, Callable[[], Said]] = {
            Does.CONTENT: lambda: self._upload_content(asked["title"]),
            Does.SAMPLE: lambda: self._sample(asked["attribute"]),
            Does.UPLOAD: lambda: self._upload(asked, note, opened=False),
            Does.OPEN: lambda: self._upload(asked, note, opened=True),
            Does.SEAL: lambda: self._seal(asked),
            Does.PRICE: lambda: self._price(asked["request"]),
            Does.SUBMIT: lambda: self._submit(asked),
            Does.SUBMIT_AGAIN: lambda: self._submit(asked),
            Does.SUBMIT_WITHOUT_KEY: lambda: self._submit(asked),
            Does.SUBMIT_TWICE: lambda: self._submit_twice(asked),
            Does.GET: lambda: {"state": self._auditor.audits.state(asked["audit_id"]).state},
            Does.CANCEL: lambda: self._cancel_twice(asked["audit_id"]),
            Does.FETCH: lambda: self._fetch(asked["audit_id"]),
            Does.ERASE: lambda: self._erase(asked["audience_id"]),
            Does.LIST: self._list,
            Does.HEAD: self._head,
        }
        return actions[does]()

    # --- contents and audiences

    def _upload_content(self, title: str) -> Said:
        """Upload a content, if no earlier try has done so without an answer."""
        mine = [each for each in self._auditor.contents.list() if each.title == title]
        made = mine[0] if mine else self._auditor.contents.upload(kind="job", title=title)
        return {"content_id": made.id, "digest": made.digest}

    def _sample(self, attribute: str) -> Said:
        return _audience(self._auditor.audiences.sample(attribute, SIZES))

    def _upload(self, asked: Asked, note: Note | None, *, opened: bool) -> Said:
        """Upload an audience; `opened` ones are sealed by an operation of its own."""
        people = range(asked["first"], asked["first"] + UPLOADED)
        columns = {
            "username": [f"u{person}" for person in people],
            "group": ["odd" if person % 2 else "even" for person in people],
        }
        uploaded = self._auditor.audiences.upload(
            pa.table(columns),
            id="username",
            by="group",
            confirmed=opened,
            resume=asked.get("resume"),
            begun=note,
            progress=False,
        )
        return _audience(uploaded)

    def _seal(self, asked: Asked) -> Said:
        """Seal an audience. Where the service has lost parts of it, send them before it fails."""
        try:
            return _audience(self._auditor.audiences.seal(asked["audience_id"]))
        except PartsLostError:
            self._upload({**asked, "resume": asked["audience_id"]}, None, opened=True)
            raise

    def _erase(self, audience_id: str) -> Said:
        self._auditor.audiences.delete(audience_id)
        return {}

    # --- audits

    def _price(self, request: Asked) -> Said:
        quote = self._auditor.audits.quote(REQUEST.validate_python(request))
        return {"debit": str(quote.price.debit)}

    def _submit(self, asked: Asked) -> Said:
        request = REQUEST.validate_python(asked["request"])
        audit = self._auditor.audits.submit(request, idempotency_key=asked.get("key"))
        answer = sha256(audit.model_dump_json().encode()).hexdigest()
        return {"audit_id": audit.id, "answer": answer, "debit": str(audit.price.debit)}

    def _submit_twice(self, asked: Asked) -> Said:
        """Submit with one key from two threads at once."""
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(self._submit, [asked, asked])
        return {**first, "other": second}

    def _cancel_twice(self, audit_id: str) -> Said:
        """Cancel, and ask again as a nervous client does: the second time must be refused."""
        state = self._auditor.audits.cancel(audit_id).state
        try:
            self._auditor.audits.cancel(audit_id)
        except NotCancellableError:
            return {"state": state, "again": "refused"}
        except (ConnectionBrokenError, ProblemError):
            return {"state": state, "again": "unknown"}
        return {"state": state, "again": "cancelled"}

    def _fetch(self, audit_id: str) -> Said:
        """Fetch the release as it comes: the SDK would give a model, not its bytes."""
        path = f"/v1/audits/{audit_id}/release"
        body = self._auditor._transport.send("GET", path).content
        return {"body": base64.b64encode(body).decode()}

    def _list(self) -> Said:
        return {"states": {each.id: each.state for each in self._auditor.audits.list()}}

    # --- the ledger

    def _head(self) -> Said:
        """Fetch the newest checkpoint, which must continue every one that was seen before."""
        if self._known_trust is None:
            researcher_id, jwk = self._regulator
            self._known_trust = make_trust(self._auditor.ledger.keys(), {researcher_id: jwk})
        head = self._auditor.ledger.head(self._known_trust)
        return {"size": head.size, "note": seen(self._known_trust.origin)[0]}


def _audience(named: NamedAudience) -> Said:
    return {
        "audience_id": named.id,
        "commitment": named.commitment,
        "names": dict(named.names),
    }
