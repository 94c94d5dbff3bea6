"""A client's state after the answers it got, and its next requests."""

from collections.abc import Callable
from typing import Any

from tests.histories.plan import Does
from tests.histories.platform import PEOPLE, WINDOWS

EPSILON = "0.3"
SIZES = {"a": 30, "b": 20}
# People of an uploaded audience.
UPLOADED = 16

Asked = dict[str, Any]
Said = dict[str, Any]


def edge_of(number: int) -> float:
    """Return an edge by which no two requests of a client are the same."""
    return (number + 1) / 10_000


class Belongings:
    """Contents, audiences, keys and audits that a client knows."""

    def __init__(self, name: str, *, keyless: bool) -> None:
        self._name, self._keyless = name, keyless
        self.contents: list[str] = []
        self.sealed: list[str] = []
        # The first person of each audience that is not sealed: its people may be sent again.
        self.opened: dict[str, int] = {}
        self.submitted: dict[str, Any] = {}
        self.audits: list[str] = []

    def choose(self, does: Does, pick: float, number: int) -> Asked:
        """Return what the operation is about; a list instead, where there is nothing yet."""
        many = round(pick * 1_000_000)
        choices: dict[Does, Callable[[], Asked | None]] = {
            Does.CONTENT: lambda: {"title": f"{self._name}-{number}"},
            Does.SAMPLE: lambda: {"attribute": f"w{many % WINDOWS}"},
            Does.UPLOAD: lambda: {"first": many % (PEOPLE - UPLOADED)},
            Does.OPEN: lambda: {"first": many % (PEOPLE - UPLOADED)},
            Does.SEAL: lambda: self._opened(many),
            Does.PRICE: lambda: self._request(many, number),
            Does.SUBMIT: lambda: self._submission(many, number),
            Does.SUBMIT_TWICE: lambda: self._request(many, number),
            Does.SUBMIT_AGAIN: lambda: self._submitted(many),
            # The newest one most of the time: no worker may have it yet.
            Does.CANCEL: lambda: _one("audit_id", self.audits, -1 if many % 4 else many),
            Does.GET: lambda: _one("audit_id", self.audits, many),
            Does.FETCH: lambda: _one("audit_id", self.audits, many),
            # One is kept, for submissions.
            Does.ERASE: lambda: _one("audience_id", self.sealed[1:], many),
            Does.HEAD: dict,
        }
        asked = choices[does]() if does in choices else None
        return {"does": Does.LIST} if asked is None else asked

    def _opened(self, many: int) -> Asked | None:
        asked = _one("audience_id", list(self.opened), many)
        return asked and {**asked, "first": self.opened[asked["audience_id"]]}

    def _request(self, many: int, number: int) -> Asked | None:
        if not self.contents or not self.sealed:
            return None
        request = {
            "kind": "score-histogram",
            "content_id": self.contents[many % len(self.contents)],
            "audience_id": self.sealed[many % len(self.sealed)],
            "bins": {"edges": [0, 0.5, 1]},
            "epsilon": EPSILON,
        }
        return {"key": f"the-key-{self._name}-{number}", "request": request}

    def _submission(self, many: int, number: int) -> Asked | None:
        """Return a submission with its key, or one whose key the SDK's own record keeps."""
        asked = self._request(many, number)
        if asked is None or not self._keyless:
            return asked
        request = {**asked["request"], "bins": {"edges": [0, edge_of(number), 1]}}
        return {"does": Does.SUBMIT_WITHOUT_KEY, "request": request}

    def _submitted(self, many: int) -> Asked | None:
        asked = _one("key", sorted(self.submitted), many)
        return asked and {**asked, "request": self.submitted[asked["key"]]}

    def learn(self, does: Does, asked: Asked, said: Said) -> None:
        """Remember what an answer gives the client to work with."""
        match does:
            case Does.CONTENT:
                self.contents.append(said["content_id"])
            case Does.SAMPLE | Does.UPLOAD:
                self.sealed.append(said["audience_id"])
            case Does.OPEN:
                self.opened[said["audience_id"]] = asked["first"]
            case Does.SEAL:
                del self.opened[said["audience_id"]]
                self.sealed.append(said["audience_id"])
            case Does.ERASE:
                self.sealed.remove(asked["audience_id"])
            case Does.SUBMIT | Does.SUBMIT_TWICE | Does.SUBMIT_AGAIN:
                self.submitted[asked["key"]] = asked["request"]
                self._meet(said["audit_id"])
            case Does.SUBMIT_WITHOUT_KEY:
                self._meet(said["audit_id"])
            case Does.LIST:
                for audit_id in said["states"]:
                    self._meet(audit_id)
            case _:
                pass

    def _meet(self, audit_id: str) -> None:
        if audit_id not in self.audits:
            self.audits.append(audit_id)


def _one(name: str, those: list[str], many: int) -> Asked | None:
    if not those:
        return None
    return {name: those[-1] if many < 0 else those[many % len(those)]}
