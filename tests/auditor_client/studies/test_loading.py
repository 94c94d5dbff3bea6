"""Study files, good and bad: a complaint says where, what, and what to do."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor_client.errors import InputError
from auditor_client.studies import parse_study, read_study
from auditor_client.studies.pinned_files import check_files, people_of
from auditor_client.studies.template import template
from privacy.receipts import canonical, digest
from tests.auditor_client.studies.examples import SHA, STUDY, changed, text_of, written
from tests.refusals import refuses


def test_a_study_says_what_its_file_says() -> None:
    study = parse_study(text_of(STUDY))
    assert study.title == "Software jobs, by gender"
    assert (study.alpha, study.delta, study.preregister) == (0.2, 0.05, False)
    assert study.audits["gender"].audience == "volunteers"
    assert [file.path for file in study.files()] == ["people.csv"]


def test_the_digest_is_of_everything_and_of_nothing_else() -> None:
    study = parse_study(text_of(STUDY))
    # Studies without canaries keep the digest that they had before there were any.
    assert study.digest == digest(canonical(study.model_dump(mode="json", exclude={"canaries"})))
    # Comments, order of keys, and what is the default anyway do not count.
    again = dict(reversed(STUDY.items())) | {"alpha": 0.2, "metrics": {"quantiles": [0.5]}}
    assert parse_study(b"# a comment\n" + text_of(again)).digest == study.digest
    for other in (
        changed("title", "Another"),
        changed("alpha", 0.1),
        changed("audits.gender.epsilon", "1.000001"),
        changed("audits.gender.bins", 5),
        changed("audiences.volunteers.file.sha256", "cd" * 32),
        changed("contents.job.text", "x"),
        changed("preregister", True),
        changed("metrics.thresholds", [0.5]),
    ):
        assert parse_study(text_of(other)).digest != study.digest


def test_keys_of_audits_are_of_the_study_and_the_name() -> None:
    study = parse_study(text_of(STUDY))
    other = parse_study(text_of(changed("title", "Another")))
    keys = {study.key("gender"), study.key("again"), other.key("gender")}
    assert len(keys) == 3
    assert study.key("gender") == parse_study(text_of(STUDY)).key("gender")
    assert all(8 <= len(key) <= 200 and key.isascii() for key in keys)


OF_LOG = {"audience": "volunteers", "log": "jobs", "epsilon": 1}
SIZE = {**OF_LOG, "kind": "bias-size", "test": "gender"}
TEST = {**OF_LOG, "kind": "outcome-test", "log": "lists"}


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("audits.size", SIZE, ["audits.size:", "'gender'", "outcome-test"]),
        ("audits", {"size": SIZE, "gender": TEST}, ["audits.size:", "'gender'", "before"]),
        ("audits", {"gender": TEST, "size": SIZE}, ["audits.size:", "'gender'", "audience", "log"]),
        ("audits.size", {**TEST, "epsilon": None}, ["audits.size: epsilon", "missing"]),
        ("audits.size", {**TEST, "bins": "quantiles"}, ["audits.size.bins"]),
        ("audits.size", {**OF_LOG, "kind": "reo"}, ["audits.size.creators:", "missing"]),
        ("titel", "x", ["'titel'", "'title'"]),
        ("audits.gender.epsilom", 1, ["audits.gender:", "'epsilom'", "'epsilon'"]),
        ("metrics.treshold", [1], ["metrics:", "'treshold'", "'thresholds'"]),
        ("contents.job.colour", "x", ["contents.job:", "'colour'", "kind"]),
        ("audiences.volunteers.file.sha", SHA, ["audiences.volunteers.file:", "'sha'", "'sha256'"]),
        ("version", 2, ["version:"]),
        ("title", None, ["title:", "missing"]),
        ("title", 7, ["title:", "in quotes"]),
        ("platform", "audit.example", ["platform:"]),
        ("alpha", 0, ["alpha:"]),
        ("alpha", float("nan"), ["alpha:"]),
        ("delta", 1, ["delta:"]),
        ("delta", "0.05", ["delta:", "number"]),
        ("audits", {}, ["audits:"]),
        ("audits.gender.content", "jop", ["audits.gender:", "'jop'", "'job'"]),
        (
            "audits.gender.audience",
            "voluntears",
            ["audits.gender:", "'voluntears'", "'volunteers'"],
        ),
        ("audits.gender.kind", "histogram", ["audits.gender:"]),
        ("audits.gender.kind", None, ["audits.gender:"]),
        ("audits.gender.epsilon", None, ["audits.gender: epsilon", "missing"]),
        ("audits.gender.epsilon", "0.0000001", ["audits.gender.epsilon:", "0.0000001", 6]),
        ("audits.gender.epsilon", True, ["audits.gender.epsilon:", "not a number"]),
        ("audits.gender.rho", 1, ["audits.gender:", "rho", "discrete-laplace", "epsilon"]),
        (
            "audits.gender.mechanism",
            "discrete-gaussian",
            ["audits.gender:", "discrete-gaussian", "rho"],
        ),
        ("audits.gender.bins", 0, ["audits.gender.bins"]),
        ("audits.Gender", {}, ["audits.Gender", "40"]),
        ("audiences.volunteers.by", [], ["audiences.volunteers.by:"]),
        (
            "audiences.volunteers.file.sha256",
            None,
            ["audiences.volunteers.file.sha256:", "`sha256sum FILE`"],
        ),
        ("audiences.volunteers.file.sha256", "x", ["audiences.volunteers.file.sha256:"]),
        (
            "audiences.volunteers.file.sha256",
            10**63,
            ["audiences.volunteers.file.sha256:", "in quotes"],
        ),
        ("audiences.volunteers", [], ["audiences.volunteers:"]),
        ("audiences.drawn", {"attribute": "gender", "sizes": {}}, ["audiences.drawn.sizes:"]),
        (
            "audiences.drawn",
            {"attribute": "gender", "sizes": {True: 3}},
            ["audiences.drawn.sizes.1", "in quotes"],
        ),
        ("metrics.only", ["parity"], ["metrics:", "parity", "threshold"]),
        ("metrics.only", ["fairness"], ["metrics.only"]),
        (
            "consistency",
            {"audits": ["gender", "b"], "relation": "repeat"},
            ["consistency:", "'b'", "gender"],
        ),
        (
            "consistency",
            {"audits": ["gender", "gender"], "relation": "repeat"},
            ["consistency:", "repeat", "different audits"],
        ),
    ],
)
def test_what_is_wrong_is_named(path: str, value: object, named: list[object]) -> None:
    with refuses(InputError, "malformed-study", *named) as found:
        parse_study(text_of(changed(path, value)), "audit.yaml")
    assert str(found.value).startswith("audit.yaml: ")


@pytest.mark.parametrize(
    ("text", "case"),
    [
        (b"", "malformed-study"),
        (b"[]", "malformed-study"),
        (b"a: [1, 2\n", "not-yaml"),
        (b"a: !!python/object/apply:os.system [true]\n", "not-yaml"),
        (b"\xff\xfe\x00", "not-yaml"),
        (b"a: 1\n---\nb: 2\n", "not-yaml"),
        (b"[" * 100_000, "not-yaml"),
        (b"? [a]\n: 1\n", "not-yaml"),
    ],
)
def test_what_is_no_study_is_refused_in_words(text: bytes, case: str) -> None:
    with refuses(InputError, case):
        parse_study(text)


def test_a_key_given_twice_and_an_alias_are_named() -> None:
    with refuses(InputError, "not-yaml", "'title'"):
        parse_study(b"title: a\ntitle: b\n")
    with refuses(InputError, "not-yaml", "*name"):
        parse_study(b"a: &x 1\nb: *x\n")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_are_worse_than_a_refusal(text: bytes) -> None:
    with pytest.raises(InputError):
        parse_study(text)


def test_a_file_that_is_missing_or_too_large_is_refused(tmp_path: Path) -> None:
    with refuses(InputError, "unreadable"):
        read_study(tmp_path / "none.yaml")
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 1_000_001)
    with refuses(InputError, "study-too-large"):
        read_study(large)


def pinned(folder: Path, text: str) -> dict[str, Any]:
    (folder / "people.csv").write_text(text)
    found = sha256(text.encode()).hexdigest()
    return changed("audiences.volunteers.file.sha256", found)


def test_files_are_those_that_were_pinned(tmp_path: Path) -> None:
    study = read_study(written(tmp_path, pinned(tmp_path, "email,g\na@b.example,w\n")))
    check_files(study, tmp_path)
    (tmp_path / "people.csv").write_text("email,g\na@b.example,m\n")
    changed_to = sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    with refuses(InputError, "another-file-than-pinned", changed_to):
        check_files(study, tmp_path)
    (tmp_path / "people.csv").unlink()
    with refuses(InputError, "unreadable"):
        check_files(study, tmp_path)


def test_a_file_per_group_is_one_table(tmp_path: Path) -> None:
    files = {}
    for name, text in (("women", "phone\n+1555010\n"), ("men", "phone,age\n0155,3\n")):
        (tmp_path / f"{name}.csv").write_text(text)
        files[name] = {"path": f"{name}.csv", "sha256": sha256(text.encode()).hexdigest()}
    given = changed("audiences.volunteers", {"groups": files, "id": "phone"})
    audience = parse_study(text_of(given)).audiences["volunteers"]
    table, columns = people_of(audience, tmp_path)  # type: ignore[arg-type]
    assert columns == ["group"]
    assert table.to_pydict() == {"phone": ["+1555010", "0155"], "group": ["women", "men"]}
    wrong = changed("audiences.volunteers", {"groups": files, "id": "email"})
    with refuses(InputError, "no-such-column", "'email'"):
        people_of(parse_study(text_of(wrong)).audiences["volunteers"], tmp_path)  # type: ignore[arg-type]


def test_the_template_is_a_study() -> None:
    made = parse_study(template("https://a.example", "people.csv", SHA).encode())
    assert made.platform == "https://a.example"
    assert made.preregister


def test_verdicts_share_delta() -> None:
    many = changed("audits.second", STUDY["audits"]["gender"])
    many["audits"]["found"] = {"kind": "match-count", "audience": "volunteers", "epsilon": 1}
    assert parse_study(text_of(many)).delta_each == 0.025
