"""The browser's computations compared with the SDK's: identifiers, statements, proofs, notes."""

import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from joserfc.jwk import OKPKey
from playwright.sync_api import Browser

from auditor_client.audiences.identifiers import normaliser
from auditor_client.audiences.parts import commitment
from auditor_client.audiences.phone_numbers import e164
from auditor_client.errors import InputError
from openapi.resources import Personal
from privacy.errors import ProofError
from privacy.ledger import merkle, statements
from privacy.receipts import canonical
from tests.console.browsing import Watched, watching
from tests.vectors import phones
from tests.world import Deployment

VECTORS = Path(__file__).parents[1] / "vectors"
IDENTIFIERS = json.loads((VECTORS / "identifiers.json").read_text())
COMMITMENTS = json.loads((VECTORS / "commitment.json").read_text())
NOTES = json.loads((VECTORS / "ledger" / "notes.json").read_text())
PUBLISHED = json.loads((VECTORS / "ledger" / "published.json").read_text())
LEAVES = [merkle.leaf_hash(b"entry %d" % number) for number in range(17)]
ROOTS = [merkle.root_of(LEAVES[:size]) for size in range(18)]
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
    "steps": 2000,
    "targets": 12,
    "confirmed": True,
}


@pytest.fixture(scope="module")
def scripts(browser: Browser, sqlite_deployment: Deployment) -> Iterator[Watched]:
    """A page of the console, where its modules can be called."""
    with watching(browser, sqlite_deployment.url) as watched:
        watched.open("")
        yield watched


def call(scripts: Watched, module: str, body: str, argument: Any) -> Any:
    """Return the result of `body` for a module `m` and an argument `x`."""
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


E164 = """return x.map(([text, country]) => {
  try { return m.e164(text, country); } catch (error) {
    if (error.constructor !== Error) throw error;
    return null;
  }
});"""


def test_phone_numbers_are_read_as_the_vectors_say(scripts: Watched) -> None:
    vectors = json.loads(phones.FILE.read_text())
    found = call(scripts, "phones.js", E164, [vector[:2] for vector in vectors])
    wrong = [
        (*vector, number)
        for vector, number in zip(vectors, found, strict=True)
        if number != vector[2]
    ]
    assert wrong == []


def test_damaged_phone_numbers_are_read_alike_by_both(scripts: Watched) -> None:
    rng = random.Random(7)
    vectors = json.loads(phones.FILE.read_text())
    asked = [(damaged(text, rng), country) for text, country, _ in rng.choices(vectors, k=4_000)]
    expected = [python_e164(*each) for each in asked]
    assert 500 < sum(number is not None for number in expected) < 3_500
    found = call(scripts, "phones.js", E164, asked)
    apart = [each for each in zip(asked, expected, found, strict=True) if each[1] != each[2]]
    assert apart == []


def damaged(text: str, rng: random.Random) -> str:
    """Change, drop or add up to three characters, as people and spreadsheets do."""
    letters = list(text)
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(letters) + 1)
        letters[at : at + rng.randint(0, 1)] = rng.choice(["", *"0123456789 +-()/x\u0663", "(0)"])
    return "".join(letters)


def python_e164(text: str, country: str | None) -> str | None:
    try:
        return e164(text, country)
    except InputError:
        return None


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
      const digest = async (part) => {
        const tokens = part.map((each) => m.token(...Object.entries(each)[0]));
        return m.partDigest(await Promise.all(tokens));
      };
      for (const [label, parts] of Object.entries(x.groups)) {
        groups[label] = await m.groupDigest(await Promise.all(parts.map(digest)));
      }
      const salt = Uint8Array.from(x.salt.match(/../g), (pair) => parseInt(pair, 16));
      return m.commit(salt, groups);"""
    assert call(scripts, "commitment.js", body, vector) == vector["commitment"]


def test_an_upload_of_several_parts_is_committed_to_as_it_is_cut(scripts: Watched) -> None:
    names = [f"user{number:05}" for number in range(20_001)]  # one more than fit into a part
    body = "return m.commitment(new Uint8Array(32), 'username', { g0: x });"
    made = call(scripts, "audience.js", body, names)
    parts = [pa.array(names[:20_000]), pa.array(names[20_000:])]
    assert made == commitment(bytes(32), "username", {"g0": parts})


def test_canonical_json_is_the_same(scripts: Watched) -> None:
    made = call(scripts, "statements.js", "return m.canonical(x);", REQUEST)
    assert made.encode() == canonical(REQUEST)


def test_a_statement_is_signed_as_the_sdk_signs_it(scripts: Watched) -> None:
    key = OKPKey.generate_key("Ed25519")
    stated = statements.payload(
        "a/v1/ledger", "charge", "r_1", "k", statements.condense_request(REQUEST)
    )
    body = """
      const stated = m.payload("a/v1/ledger", "charge", "r_1", "k", await m.condensed(x.request));
      return m.sign(stated, x.jwk, 1_790_000_000);"""
    asked = {"request": REQUEST, "jwk": key.as_dict(private=True)}
    signature = call(scripts, "statements.js", body, asked)
    # Ed25519 is deterministic: the same header and payload give the same bytes.
    assert signature == statements.sign(stated, key, at=1_790_000_000)
    statements.verify(signature, stated, key, ["Ed25519"])


def test_personal_text_is_committed_to_as_the_sdk_does(scripts: Watched) -> None:
    body = {
        "mandate_id": "mandate_1",
        "reason": {"salt": "oB3v5cZy0yq1tZ8kq3i2hQ==", "text": "Zoë’s 😀 \u2028 reason"},
        "mandate": {"kinds": ["a"], "until": None, "share": "0.5"},
        "individuals": [Personal.fresh(text).model_dump() for text in ("Ada", "\x00")],
        "version": 3,
    }
    made = call(scripts, "statements.js", "return m.stated(x);", body)
    assert made == statements.state_request(body)


def test_trees_are_verified_as_the_service_verifies_them(scripts: Watched) -> None:
    """Good proofs of all small trees, and every one of them with something wrong."""
    cases = [*inclusions(11), *consistencies(11)]
    assert sum(good for *_, good in cases) > 100
    assert sum(not good for *_, good in cases) > 600
    body = """
      const byte = (pair) => parseInt(pair, 16);
      const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], byte);
      const verdicts = x.map(async ([name, sizes, hashes, path]) => {
        const [one, other] = hashes.map(bytes);
        const [a, b] = sizes.map(BigInt);
        const steps = path.map(bytes);
        const asked = name === "inclusion" ? m.verifyInclusion(one, a, b, steps, other)
          : m.verifyConsistency(a, b, one, other, steps);
        return asked.then(() => true, () => false);
      });
      return Promise.all(verdicts);"""
    found = call(scripts, "merkle.js", body, [case[:-1] for case in cases])
    assert found == [case[-1] for case in cases]


def inclusions(largest: int) -> Iterator[tuple[Any, ...]]:
    for size in range(1, largest + 1):
        for index in range(size):
            path = merkle.inclusion_path(index, size, subtree)
            for number, of, steps, root in (
                (index, size, path, ROOTS[size]),
                (index, size, path, ROOTS[size - 1]),
                ((index + 1) % size, size, path, ROOTS[size]),
                (index, size, path[:-1], ROOTS[size]),
                (index, size, [*path, ROOTS[1]], ROOTS[size]),
                (index, size, [*path[:-1], path[-1][::-1]] if path else [b""], ROOTS[size]),
                (size, size, path, ROOTS[size]),
            ):
                good = holds(merkle.verify_inclusion, LEAVES[index], number, of, steps, root)
                hashes = [LEAVES[index].hex(), root.hex()]
                yield "inclusion", [number, of], hashes, [step.hex() for step in steps], good


def consistencies(largest: int) -> Iterator[tuple[Any, ...]]:
    for new in range(1, largest + 1):
        for old in range(1, new + 1):
            path = merkle.consistency_path(old, new, subtree)
            for first, steps, roots in (
                (old, path, (ROOTS[old], ROOTS[new])),
                (old, path, (ROOTS[old - 1], ROOTS[new])),
                (old, path, (ROOTS[old], ROOTS[new - 1])),
                (old % new + 1, path, (ROOTS[old], ROOTS[new])),
                (old, path[1:], (ROOTS[old], ROOTS[new])),
                (old, [*path, ROOTS[1]], (ROOTS[old], ROOTS[new])),
                (old, [step[::-1] for step in path] or [b"x"], (ROOTS[old], ROOTS[new])),
                (0, path, (ROOTS[0], ROOTS[new])),
            ):
                good = holds(merkle.verify_consistency, first, new, *roots, steps)
                hashes = [root.hex() for root in roots]
                yield "consistency", [first, new], hashes, [step.hex() for step in steps], good


def holds(verify: Callable[..., None], *asked: Any) -> bool:
    try:
        verify(*asked)
    except ProofError:
        return False
    return True


def subtree(start: int, end: int) -> bytes:
    return merkle.root_of(LEAVES[start:end])


OPEN = """
  const keys = await Promise.all(x.keys.map(m.parseKey));
  return Promise.all(x.notes.map((note) => m.openCheckpoint(note, keys).then(
    ({ signers, witnesses, size }) => ({
      signers: signers.map((key) => key.text).sort(),
      witnesses: Object.fromEntries(witnesses.map(({ key, at }) => [key.text, Number(at)])),
    }),
    () => "refused")));"""


def test_signed_notes_are_opened_and_refused_as_the_vectors_say(scripts: Watched) -> None:
    keys = NOTES["keys"]
    notes = [case["note"] for case in (*NOTES["good"], *NOTES["bad"])]
    found = call(scripts, "notes.js", OPEN, {"keys": list(keys.values()), "notes": notes})
    expected = [
        {
            "signers": sorted(keys[name] for name in case["signers"]),
            "witnesses": {keys[name]: at for name, at in case["witnesses"].items()},
        }
        for case in NOTES["good"]
    ]
    assert found == expected + ["refused"] * len(NOTES["bad"])


def test_keys_and_published_notes_are_read_as_others_made_them(scripts: Watched) -> None:
    bad = [case["key"] for case in NOTES["bad_keys"]]
    good = [PUBLISHED[name]["key"] for name in ("signed-note", "go.sum", "remora")]
    body = "return Promise.all(x.map((key) => m.parseKey(key).then((k) => k.text, () => null)));"
    assert call(scripts, "notes.js", body, good + bad) == good + [None] * len(bad)
    # sum.golang.org signs under another name than its tree's: to us that is a stranger's note.
    asked = {"keys": [PUBLISHED["go.sum"]["key"]], "notes": [PUBLISHED["go.sum"]["note"]]}
    assert call(scripts, "notes.js", OPEN, asked) == ["refused"]
    renamed = [PUBLISHED["tlog-cosignature"]["note"]]
    parsed = call(scripts, "notes.js", "return x.map((n) => m.parseNote(n).text);", renamed)
    assert parsed == [renamed[0].rpartition("\n\n")[0] + "\n"]


def test_csv_is_read_as_it_is_written(scripts: Watched) -> None:
    text = '\ufeffid,group\r\n"a,""b""\nc",x\r\n\r\nd,\r\n"",é'
    rows = call(scripts, "csv.js", "return m.parseCsv(x);", text)
    assert rows == [["id", "group"], ['a,"b"\nc', "x"], ["d", ""], ["", "é"]]
