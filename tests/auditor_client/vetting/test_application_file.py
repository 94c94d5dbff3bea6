"""An application from a file: the template is one, and what does not fit is told before sending."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from auditor_client import InputError
from auditor_client.cli.app import app
from auditor_client.local.keys import plain_jwk
from auditor_client.vetting.application_file import TEMPLATE, application_of, read_application
from auditor_client.vetting.client import Applicant
from tests.refusals import refuses

run = CliRunner().invoke
KEY = OKPKey.generate_key("Ed25519")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "application.toml"
    path.write_text(TEMPLATE)
    return path


def test_the_template_is_an_application(file: Path) -> None:
    made = read_application(file, KEY)
    assert made.principal.jwk == plain_jwk(KEY)
    assert made.principal.name.text == "Ada Lovelace"
    assert made.epsilon_limit == 20
    done = run(app, ["apply", "--template"])
    assert (done.exit_code, done.stdout) == (0, TEMPLATE)


def test_every_text_gets_a_salt_of_its_own(file: Path) -> None:
    made, again = read_application(file, KEY), read_application(file, KEY)
    salts = {each.funding.salt for each in (made, again)} | {made.research.salt}
    assert len(salts) == 3


def test_the_commented_lines_of_the_template_work_too(file: Path) -> None:
    grace = OKPKey.generate_key("Ed25519")
    (file.parent / "grace.public.jwk").write_text(json.dumps(grace.as_dict(private=False)))
    lines = TEMPLATE.splitlines()
    starts = ("# renewal", "# lifetime_limit", "# [[", "# name", "# affiliation", "# key")
    whole = [line.removeprefix("# ") if line.startswith(starts) else line for line in lines]
    file.write_text("\n".join(whole))
    made = read_application(file, KEY)
    assert made.renewal is not None
    assert [each.role for each in made.individuals] == ["principal", "other"]
    assert made.individuals[1].jwk["x"] == plain_jwk(grace)["x"]


def test_json_will_do(tmp_path: Path, file: Path) -> None:
    fields = tomllib.loads(TEMPLATE)
    path = tmp_path / "application.json"
    path.write_text(json.dumps(fields, default=str))
    assert read_application(path, KEY).purpose == read_application(file, KEY).purpose


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"individuals": []}, "individuals"),
        ({"purpose": ""}, "purpose"),
        ({"funding": ""}, "text"),
        ({"epsilon_limit": "-1"}, "epsilon_limit"),
        ({"rho_limit": "1"}, "epsilon_limit.*rho_limit"),
        ({"publishes_free_of_charge": False}, "publishes_free_of_charge"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_an_invalid_application_is_reported(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    fields = {**tomllib.loads(TEMPLATE), **change}
    with pytest.raises(InputError, match=named):
        application_of(fields, KEY, tmp_path)


@pytest.mark.parametrize(
    ("individuals", "case"),
    [(None, "no-individuals"), ([{"name": "Eve", "role": "other"}], "no-key")],
)
def test_individuals_are_listed_with_their_keys(
    tmp_path: Path, individuals: object, case: str
) -> None:
    fields = {**tomllib.loads(TEMPLATE), "individuals": individuals}
    with refuses(InputError, case):
        application_of(fields, KEY, tmp_path)


def test_a_private_key_of_somebody_else_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "grace.jwk"
    secret.write_text(json.dumps(OKPKey.generate_key("Ed25519").as_dict(private=True)))
    people = [{"name": "Ada", "role": "principal"}, {"name": "Grace", "key": "grace.jwk"}]
    with refuses(InputError, "private-key"):
        application_of({"individuals": people}, KEY, tmp_path)


def test_an_unreadable_application_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "application.toml"
    path.write_text("organisation = ")
    with refuses(InputError, "unreadable"):
        read_application(path, KEY)
    done = run(app, ["apply", str(tmp_path / "nothing.toml"), "--url", "http://x", "--key", "y"])
    assert done.exit_code == 1


def test_the_application_belongs_to_its_signer(file: Path) -> None:
    other = OKPKey.generate_key("Ed25519")
    with refuses(InputError, "another-principal"):
        Applicant.apply("http://127.0.0.1:9", other, read_application(file, KEY))


def test_apply_needs_to_know_where_and_as_whom(file: Path) -> None:
    for arguments in ([], [str(file)], [str(file), "--url", "https://x"]):
        done = run(app, ["apply", *arguments, "-p", "nobody"])
        assert (done.exit_code, done.stdout) == (1, "")
