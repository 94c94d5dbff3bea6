"""The commands of vetting, of all three roles, against a real service."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.platforms.interfaces import Platform
from auditor_client import new_key
from auditor_client.cli.app import app
from auditor_client.local.private_files import write_private
from auditor_client.local.profiles import load_profile, save_profile
from auditor_client.vetting.application_file import TEMPLATE
from tests.world import Deployment, deployed, sqlite_url

run = CliRunner().invoke


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("vetting"))
    with deployed(url, platform, applications_per_hour=1_000) as running:
        yield running


@pytest.fixture
def profiles(host: Deployment, home: Path, tmp_path: Path) -> None:
    """A regulator's and an operator's profile on this machine."""
    people = {
        "regulator": (host.regulator._researcher_id, host.regulator._key),
        "operator": (host.operator_id, host.operator_key),
    }
    for name, (who, key) in people.items():
        path = home / "keys" / f"{name}.jwk"
        write_private(path, json.dumps(key.as_dict(private=True)))
        save_profile(name, host.url, who, path)


def told(*arguments: str, code: int = 0) -> Any:
    done = run(app, [*arguments, "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout) if code == 0 else done.stderr


def applied(host: Deployment, tmp_path: Path) -> dict[str, Any]:
    key, file = tmp_path / "ada.jwk", tmp_path / "application.toml"
    new_key(key)
    file.write_text(TEMPLATE)
    made = told("apply", str(file), "--url", host.url, "--key", str(key), "-p", "ada")
    assert isinstance(made, dict)
    return made


@pytest.mark.usefixtures("profiles")
def test_from_an_application_to_a_budget(host: Deployment, tmp_path: Path) -> None:
    made = applied(host, tmp_path)
    who = made["individuals"][0]["researcher_id"]
    assert load_profile("ada").researcher == who
    assert told("me", "-p", "ada")["role"] == "applicant"
    asked = told(
        "regulator", "decide", made["id"], "request-changes", "--reasons", "which ads?",
        "-p", "regulator",
    )  # fmt: skip
    assert asked["state"] == "changes-requested"
    newer = tmp_path / "newer.toml"
    newer.write_text(TEMPLATE.replace("job ads", "housing ads"))
    assert told("application", "answer", made["id"], str(newer), "-p", "ada")["version"] == 2
    listed = told("regulator", "applications", "--state", "submitted", "-p", "regulator")
    assert made["id"] in {each["id"] for each in listed}
    approved = told(
        "regulator", "decide", made["id"], "approve", "--reasons", "fine", "--epsilon", "5",
        "--kind", "score-histogram", "--until", "2030-01-01", "--version", "2", "-p", "regulator",
    )  # fmt: skip
    assert approved["state"] == "approved"
    [mandate] = told("budget", "-p", "ada")
    assert (mandate["epsilon_limit"], mandate["researcher_ids"]) == ("5", [who])
    shown = run(app, ["application", "status", made["id"], "-p", "ada"], env={"COLUMNS": "300"})
    for words in (
        "approved",
        "operator: ask for an amendment",
        "Ada Lovelace",
        "which ads?",
    ):
        assert words in shown.stdout
    # Somebody who is registered applies again with the profile alone.
    again = told("apply", str(newer), "-p", "ada")
    assert again["auditor_id"] == approved["auditor_id"]
    assert told("application", "withdraw", again["id"], "-p", "ada")["state"] == "withdrawn"
    assert len(told("application", "list", "-p", "ada")) == 2


@pytest.mark.usefixtures("profiles")
def test_amendment_mediation_and_what_follows(host: Deployment, tmp_path: Path) -> None:
    made = applied(host, tmp_path)
    regulator, operator = ("-p", "regulator"), ("-p", "operator")
    decide = ("regulator", "decide", made["id"])
    approved = told(*decide, "approve", "--reasons", "fine", *regulator)
    assert [each["id"] for each in told("operator", "applications", *operator)][:1] == [made["id"]]
    asked = told(
        "operator", "amendment", made["id"], "--ground", "vulnerability", "--reasons", "too fine",
        "--proposal", "less", *operator,
    )  # fmt: skip
    assert asked["state"] == "amendment-requested"
    told(*decide, "reject-amendment", "--reasons", "no", *regulator)
    told("operator", "mediation", made["id"], "requested", "--text", "we object", *operator)
    opened = told(
        "regulator", "mediation", made["id"], "opened", "--text", "so be it", "--days", "20",
        *regulator,
    )  # fmt: skip
    assert opened["state"] == "in-mediation"
    told("regulator", "mediation", made["id"], "agreed", "--text", "epsilon 3", *regulator)
    mandate = approved["mandate_id"]
    changed = told(
        "regulator", "change", mandate, "--reason", "as agreed", "--epsilon", "3", *regulator
    )
    assert changed["epsilon_limit"] == "3"
    for command, state in (
        ("suspend", "suspended"),
        ("resume", "active"),
        ("terminate", "terminated"),
    ):
        done = told("regulator", command, mandate, "--reason", "because", *regulator)
        assert done["state"] == state
    who = made["individuals"][0]["researcher_id"]
    assert told("regulator", "remove", who, "--reason", "left", *regulator)["removed_at"]
    assert "does not accept" in told("budget", "-p", "ada", code=1)
    erased = told("regulator", "erase", made["id"], *regulator)
    assert len(erased["commitments"]) > 6
    shown = told("regulator", "applications", made["id"], *regulator)
    assert shown["individuals"][0]["name"] is None


@pytest.mark.usefixtures("profiles")
def test_a_key_is_rotated_and_the_profile_follows(host: Deployment, tmp_path: Path) -> None:
    made = applied(host, tmp_path)
    told("regulator", "decide", made["id"], "approve", "--reasons", "fine", "-p", "regulator")
    before = told("me", "-p", "ada")
    changed = told("me", "key", "rotate", "-p", "ada")
    assert changed["key_thumbprint"] != before["key_thumbprint"]
    assert load_profile("ada").key == changed["key_file"]
    after = told("me", "-p", "ada")
    assert after["key_thumbprint"] == changed["key_thumbprint"]
    assert told("budget", "-p", "ada")


@pytest.mark.usefixtures("profiles")
def test_webhooks_by_command(host: Deployment) -> None:
    added = told("webhook", "add", "https://hooks.example.org/x", "-p", "regulator")
    assert added["public_key"].startswith("whpk_")
    assert [each["id"] for each in told("webhook", "list", "-p", "regulator")] == [added["id"]]
    assert run(app, ["webhook", "delete", added["id"], "-p", "regulator"]).exit_code == 0
    assert told("webhook", "list", "-p", "regulator") == []
    private = told("webhook", "add", "https://localhost/x", "-p", "regulator", code=1)
    assert "public internet" in private


@pytest.mark.usefixtures("profiles")
def test_invalid_values_of_options_are_reported(host: Deployment, tmp_path: Path) -> None:
    made = applied(host, tmp_path)
    regulator = ("-p", "regulator")
    decide = ("regulator", "decide", made["id"])
    assert "not a decision" in told(*decide, "maybe", "--reasons", "x", *regulator, code=1)
    assert "not a date" in told(
        *decide, "extend", "--reasons", "x", "--until", "soon", *regulator, code=1
    )
    assert "extension" in told(*decide, "extend", "--reasons", "x", *regulator, code=1)
    assert "no state" in told("regulator", "applications", "--state", "lost", *regulator, code=1)
    assert "version" in told(
        *decide, "refuse", "--reasons", "x", "--version", "7", *regulator, code=1
    )
    file = tmp_path / "application.toml"
    other = tmp_path / "other.jwk"
    new_key(other)
    taken = told("apply", str(file), "--url", host.url, "--key", str(other), "-p", "ada", code=1)
    assert "'ada'" in taken
    assert "--profile" in taken


def test_every_command_of_vetting_has_help_and_profile() -> None:
    commands = [
        "apply", "application list", "application status", "application answer",
        "application withdraw", "regulator applications", "regulator decide",
        "regulator mediation", "regulator suspend", "regulator resume", "regulator terminate",
        "regulator change", "regulator remove", "regulator erase", "operator applications",
        "operator amendment", "operator mediation", "me", "me key rotate", "webhook add",
        "webhook list",
    ]  # fmt: skip
    for command in commands:
        done = run(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
        assert done.exit_code == 0, command
        assert "--json" in done.output, command
        assert "--profile" in done.output, command
