"""A researcher's visit to the console over plain HTTP, with forms signed as `signing.js` does."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx2

from auditor_client import Auditor
from privacy.ledger import statements


@dataclass(frozen=True)
class ConsoleSession:
    """Pages of the console as one researcher sees them."""

    who: Auditor
    http: httpx2.Client

    def page(self, path: str, **fields: str | Sequence[str]) -> str:
        """Return the text of a page that must exist."""
        answer = self.http.get(f"/console{path}", params=fields)
        assert answer.status_code == 200, (answer.status_code, shown(answer.text))
        return answer.text

    def pay(self, offer: str) -> str:
        """Sign the form of a price page, submit it, and return the identifier of the audit."""
        [form] = re.findall(r"<form[^>]* data-sign.*?</form>", offer, re.DOTALL)
        said = dict(re.findall(r'data-(\w+)="([^"]*)"', form.partition(">")[0]))
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
        fields["request"] = unescape(fields["request"])
        stated = statements.condense_request(json.loads(fields["request"]))
        signed = statements.payload(
            said["origin"], said["action"], said["by"], fields["key"], stated
        )
        fields["signature"] = statements.sign(signed, self.who._key)
        answer = self.http.post("/console/audits", data=fields, headers={"Origin": self.who.url})
        assert answer.status_code == 200, shown(answer.text)
        return str(answer.url).rpartition("/")[2]

    def result(self, audit_id: str) -> str:
        """Return the page of an audit as soon as it shows the result."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            text = self.page(f"/audits/{audit_id}")
            if 'class="verdict' in text:
                return text
            time.sleep(0.05)
        raise AssertionError(f"{audit_id} has no result: {shown(text)}")


@contextmanager
def console_session(who: Auditor) -> Iterator[ConsoleSession]:
    """Sign in by the link of `auditor console`."""
    headers = {"Accept": "text/html"}
    with httpx2.Client(
        base_url=who.url, headers=headers, follow_redirects=True, timeout=60
    ) as http:
        asking = http.get(who.console_link().url).text
        hidden = dict(re.findall(r'name="(token|code)" value="([^"]+)"', asking))
        http.post("/console/sign-in", data=hidden, headers={"Origin": who.url})
        yield ConsoleSession(who, http)


def signed_request(offer: str) -> Any:
    """Return the request that a price page shows for signing."""
    [text] = re.findall(r'name="request" value="([^"]*)"', offer)
    return json.loads(unescape(text))


def shown(page: str) -> str:
    """Return the text of a page in one line."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", page)).split())


def headline(page: str, names: Mapping[str, str]) -> str:
    """Return the sentence of a result page; names replace labels as `names.js` replaces them."""
    [sentence] = re.findall(r'<p class="verdict[^>]*>(.*?)</p>', page, re.DOTALL)
    label = r'<span data-label="(\w+)" data-audience="\w+">\w+</span>'
    return unescape(re.sub(label, lambda found: names.get(found[1], found[1]), sentence))
