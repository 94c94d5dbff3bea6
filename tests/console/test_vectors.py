"""What the browser computes beside what the SDK does: identifiers, commitments, statements."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from playwright.sync_api import Browser

from auditor_client.errors import InputError
from auditor_client.identifiers import normaliser
from privacy.ledger import statements
from privacy.receipts import canonical
from tests.console.browsing import Watched, watching
from tests.world import Deployment

VECTORS = Path(__file__).parents[1] / "vectors"
IDENTIFIERS = json.loads((VECTORS / "identifiers.json").read_text())
COMMITMENTS = json.loads((VECTORS / "commitment.json").read_text())
# Of private use: it folds to itself, and no letter is it.
BETWEEN = "\ue000"
REQUEST: dict[str, Any] = {
    "kind": "score-histogram",
    "content_id": "content_1",
    "bins": {"kind": "edges", "edges": [0.0, 1e-7, 0.1, 0.30000000000000004, 1e21, 5e-324]},
    "epsilon": "2.5",
    "context": {"\u20ac": 'é\u0007"\\', "\U0001f600": "ä", "\ufb33": 1.0, "": -0.0},
    "mandate_id": None,
    "contents": ["a", "b"],
    "confirmed": True,
}


@pytest.fixture(scope="module")
def scripts(browser: Browser, sqlite_deployment: Deployment) -> Iterator[Watched]:
    """A page of the console, where its modules can be called."""
    with watching(browser, sqlite_deployment.url) as watched:
        watched.open("")
        yield watched


def call(scripts: Watched, module: str, body: str, argument: Any) -> Any:
    """What `body` returns of a module `m` and an argument `x`."""
    sheet = scripts.page.locator("link[rel=stylesheet]").get_attribute("href")
    address = f"{str(sheet).rpartition('/')[0]}/{module}"
    program = f"async (x) => {{ const m = await import('{address}'); {body} }}"
    return scripts.page.evaluate(program, argument)


def as_sent(vector: dict[str, Any]) -> str | None:
    try:
        sent = normaliser(vector["kind"], vector.get("country"))(vector["value"])
    except InputError:
        return "refused"
    return sent.hex() if isinstance(sent, bytes) else sent


def test_identifiers_are_sent_as_the_vectors_say_by_both(scripts: Watched) -> None:
    expected = [vector["sent"] for vector in IDENTIFIERS]
    assert [as_sent(vector) for vector in IDENTIFIERS] == expected
    body = """return Promise.all(x.map((v) =>
      m.normalised(v.kind, v.value, v.country).catch(() => "refused")));"""
    assert call(scripts, "identifiers.js", body, IDENTIFIERS) == expected


def test_folding_is_pythons_for_all_of_unicode(scripts: Watched) -> None:
    letters = [
        letter
        for letter in map(chr, (*range(0xD800), *range(0xE000, 0x110000)))
        if unicodedata.category(letter) not in ("Cn", "Co")
        and unicodedata.is_normalized("NFKC", letter)
    ]
    assert len(letters) > 100_000
    folded = call(scripts, "casefold.js", "return m.casefold(x);", BETWEEN.join(letters))
    assert folded.split(BETWEEN) == [letter.casefold() for letter in letters]


@pytest.mark.parametrize("vector", COMMITMENTS, ids=lambda vector: vector["name"])
def test_commitments_are_those_of_the_vectors(scripts: Watched, vector: dict[str, Any]) -> None:
    body = """
      const groups = {};
      for (const [label, members] of Object.entries(x.groups)) {
        const tokens = members.map((each) => m.token(...Object.entries(each)[0]));
        groups[label] = await m.groupDigest(await Promise.all(tokens));
      }
      const salt = Uint8Array.from(x.salt.match(/../g), (pair) => parseInt(pair, 16));
      return m.commit(salt, groups);"""
    assert call(scripts, "commitment.js", body, vector) == vector["commitment"]


def test_canonical_json_is_the_same(scripts: Watched) -> None:
    made = call(scripts, "statements.js", "return m.canonical(x);", REQUEST)
    assert made.encode() == canonical(REQUEST)


def test_a_statement_is_signed_as_the_sdk_signs_it(scripts: Watched) -> None:
    key = OKPKey.generate_key("Ed25519")
    stated = statements.payload("a/v1/ledger", "charge", "r_1", "k", statements.condensed(REQUEST))
    body = """
      const stated = m.payload("a/v1/ledger", "charge", "r_1", "k", await m.condensed(x.request));
      return m.sign(stated, x.jwk, 1_790_000_000);"""
    asked = {"request": REQUEST, "jwk": key.as_dict(private=True)}
    signature = call(scripts, "statements.js", body, asked)
    # Ed25519 is deterministic: the same header and payload give the same bytes.
    assert signature == statements.sign(stated, key, at=1_790_000_000)
    statements.verify(signature, stated, key, ["Ed25519"])


def test_csv_is_read_as_it_is_written(scripts: Watched) -> None:
    text = '\ufeffid,group\r\n"a,""b""\nc",x\r\n\r\nd,\r\n"",é'
    rows = call(scripts, "csv.js", "return m.parseCsv(x);", text)
    assert rows == [["id", "group"], ['a,"b"\nc', "x"], ["d", ""], ["", "é"]]
