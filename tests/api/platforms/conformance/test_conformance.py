"""A good adapter passes every check, and every check catches its bad twin."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from pydantic import SecretStr
from starlette.responses import Response
from typer.testing import CliRunner

from api.kernel.checks import Check
from api.operations.cli import app
from api.operations.doctor.adapter import examine_adapter
from api.platforms.conformance import CHECKS, Subject, examine, subject_of
from api.platforms.http import served
from api.platforms.http.client import AdapterClientOptions
from api.platforms.interfaces import Platform
from tests.api.platforms.conformance.twins import TWINS, Twin
from tests.api.platforms.http.adapters import connected, hosted, there
from tests.system.adapters import GOSSIP, Mislabelled

BY_NAME = {check.name: check for check in CHECKS}
# In process: what a line between would mend, or refuse, is not seen by these checks.
OF_THE_TRANSPORT = {"strangers-are-refused", "garbage-is-refused", "scores-say-their-model"}
# A simulated platform holds nobody who is gone.
KNOWN = {"score-answers-people-who-are-gone"}


@pytest.fixture(scope="module")
def good(platform: Platform) -> Platform:
    return platform


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text("correct horse")
    return file


@pytest.fixture(scope="module")
def url(good: Platform) -> Iterator[str]:
    with hosted(served(good, SecretStr("correct horse"))) as url:
        yield url


@pytest.fixture(scope="module")
def subject(good: Platform) -> Subject:
    return subject_of(good, explore=True)


def test_a_good_adapter_gets_nothing_wrong(subject: Subject) -> None:
    found = list(examine(subject))
    assert {each.check for each in found if each.outcome not in ("ok", "not-applicable")} == KNOWN
    assert {each.check for each in found if each.outcome == "not-applicable"} == OF_THE_TRANSPORT


def test_nor_does_it_over_http(url: str, token: Path) -> None:
    connection = AdapterClientOptions(url=url, token_file=token)
    with connected(url, token_file=token) as far:
        found = list(examine(subject_of(far, explore=True, connection=connection)))
    assert {each.check for each in found if each.outcome != "ok"} == KNOWN


def test_every_check_has_a_twin() -> None:
    assert TWINS.keys() | OF_THE_TRANSPORT == BY_NAME.keys()
    assert len(BY_NAME) == len(CHECKS)


@pytest.mark.parametrize("name", sorted(TWINS))
def test_every_check_catches_its_twin(good: Platform, subject: Subject, name: str) -> None:
    check = BY_NAME[name]
    quick = replace(subject, call_seconds=0.1, person_seconds=0.0)
    finding = check(replace(quick, platform=TWINS[name](good)))
    assert finding.outcome == ("warning" if check.warns else "failed")
    assert finding.what
    assert finding.to_do


def test_an_adapter_without_authentication_is_reported(good: Platform, token: Path) -> None:
    with hosted(served(good)) as url, connected(url, token_file=token) as far:
        subject = subject_of(far, connection=AdapterClientOptions(url=url, token_file=token))
        assert BY_NAME["strangers-are-refused"](subject).outcome == "failed"


def test_an_adapter_that_accepts_anything_is_reported(subject: Subject, token: Path) -> None:
    async def anything(scope: Any, receive: Any, send: Any) -> None:
        await Response(b"")(scope, receive, send)

    with hosted(anything) as careless:
        connection = AdapterClientOptions(url=careless, token_file=token)
        subject = replace(subject, connection=connection)
        assert BY_NAME["garbage-is-refused"](subject).outcome == "failed"


def _broken(*_: Any) -> Any:
    raise OSError(GOSSIP)


@pytest.mark.parametrize(
    ("capability", "call", "told"),
    [
        ("directory", "held", "directory-agrees-with-match"),
        ("people", "offers", "offers-are-figures"),
        ("people", "sample", "sample-has-the-size"),
        ("people", "match", "match-answers-nobody"),
    ],
)
def test_a_call_that_fails_is_a_finding(
    good: Platform, capability: str, call: str, told: str
) -> None:
    broken: Any = {capability: Twin(getattr(good, capability), **{call: _broken})}
    found = list(examine(subject_of(replace(good, **broken))))
    assert told in {each.check for each in found if each.outcome == "failed"}
    assert GOSSIP not in repr(found)


def test_a_directory_that_fails_over_http_is_reported_by_command_and_doctor(
    good: Platform,
) -> None:
    unlisted = replace(good, directory=cast("Any", Twin(good.directory, held=_broken)))
    with hosted(served(unlisted)) as url:
        done = CliRunner().invoke(app, ["conformance", url, "--json"])
        with connected(url) as far:
            quick = examine_adapter(lambda: far)
    assert done.exit_code == 1, done.output
    wrong = {each["check"] for each in json.loads(done.output) if each["outcome"] == "failed"}
    assert "directory-agrees-with-match" in wrong
    assert {each.outcome for each in quick} <= {"ok", "warning"}


def test_a_large_directory_is_not_fetched_whole(good: Platform) -> None:
    """The directory does not fit into one answer, and its first part is enough."""
    persons, names = there(good.directory).held("username")
    many = 200_000
    listed = (
        np.concatenate([persons, np.arange(many) + 10**6]),
        pa.concat_arrays([names, pa.array([f"stranger_{n}" for n in range(many)])]),
    )
    large = replace(good, directory=cast("Any", Twin(good.directory, held=lambda kind: listed)))
    with hosted(served(large)) as url, connected(url, max_answer_bytes=2**21) as far:
        subject = subject_of(far)
        assert len(subject.known["username"])
        assert BY_NAME["match-is-stable"](subject).outcome == "ok"


@pytest.mark.parametrize("label", ["", "sha256:" + "0" * 64])
def test_an_adapter_that_names_another_model_about_somebody_is_reported(
    good: Platform, label: str
) -> None:
    subject = subject_of(good)
    victim = int(subject.people()[3])
    odd = replace(good, scores=Mislabelled(there(good.scores), label=label, victim=victim))
    with hosted(served(odd)) as url, connected(url) as far:
        finding = BY_NAME["scores-say-their-model"](
            replace(subject, platform=far, connection=AdapterClientOptions(url=url))
        )
    assert finding.outcome == "failed"
    assert "model" in finding.what


def test_what_the_adapter_says_of_people_is_not_repeated() -> None:
    def gossip(_: Any) -> str | None:
        raise ValueError(GOSSIP)

    finding = Check[None]("gossip", gossip, "mend it")(None)
    assert finding.outcome == "failed"
    assert GOSSIP not in repr(finding)
    assert "ValueError" in finding.what


def test_the_command_says_what_is_wrong_and_exits_so(url: str, token: Path) -> None:
    right = CliRunner().invoke(app, ["conformance", url, "--token-file", str(token), "--json"])
    assert right.exit_code == 0, right.output
    assert {each["outcome"] for each in json.loads(right.output)} <= {
        "ok",
        "warning",
        "not-applicable",
    }
    names = [f"{__name__}:unsound"]
    wrong = CliRunner().invoke(app, ["conformance", *names])
    assert wrong.exit_code == 1
    assert "match-keeps-the-order" in wrong.output
    assert "answer in the order" in wrong.output


def test_the_command_says_why_it_reaches_nobody(url: str) -> None:
    locked_out = CliRunner().invoke(app, ["conformance", url])
    assert locked_out.exit_code == 2
    assert "/v1/platform: status 401" in locked_out.output


def unsound() -> Platform:
    """For the command, by its name."""
    from tests.world import small_platform

    few = replace(small_platform(), logs=None, policies=None)
    return TWINS["match-keeps-the-order"](few)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nonsense", "module:factory"),
        ("no_such_module:make", "No module named"),
        ("api.app.compose:nobody", "no attribute"),
    ],
)
def test_the_command_says_which_adapter_is_not_there(target: str, said: str) -> None:
    done = CliRunner().invoke(app, ["conformance", target])
    assert done.exit_code == 2
    assert said in done.stderr


def test_identifiers_of_test_accounts_are_read_from_a_file(
    good: Platform, url: str, token: Path, tmp_path: Path
) -> None:
    assert good.directory is not None
    file = tmp_path / "accounts.csv"
    names = good.directory.held("username")[1][:5].to_pylist()
    mails = good.directory.held("email_sha256")[1][:5].to_pylist()
    lines = [f"username,{name}" for name in names] + [f"email_sha256,{m.hex()}" for m in mails]
    file.write_text("kind,identifier\n" + "\n".join(lines))
    options = ["--token-file", str(token), "--identifiers", str(file)]
    done = CliRunner().invoke(app, ["conformance", url, *options])
    assert done.exit_code == 0, done.output
    file.write_text("kind,identifier\nshoe_size,44")
    done = CliRunner().invoke(app, ["conformance", url, *options])
    assert done.exit_code == 2
