import json
import stat
from pathlib import Path

import pytest

from auditor_client import Auditor, new_key, save_profile
from auditor_client.errors import ProfileError
from auditor_client.local.keys import load_key
from auditor_client.local.private_files import home as chosen_home
from auditor_client.local.profiles import load_profile, load_profiles
from tests.refusals import refuses


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_profile_comes_back_as_saved(home: Path) -> None:
    save_profile("demo", "https://audit.example", 'res_"quoted"\\', home / "demo.jwk")
    save_profile("other", "https://other.example", "res_2", home / "other.jwk")
    assert set(load_profiles()) == {"demo", "other"}
    saved = load_profile("demo")
    assert (saved.url, saved.researcher) == ("https://audit.example", 'res_"quoted"\\')
    assert saved.key == str(home / "demo.jwk")


def test_saving_again_replaces(home: Path) -> None:
    for url in ("https://one.example", "https://two.example"):
        save_profile("demo", url, "res_1", home / "demo.jwk")
    assert load_profile("demo").url == "https://two.example"


def test_files_are_their_owners_alone(home: Path) -> None:
    save_profile("demo", "https://audit.example", "res_1", home / "demo.jwk")
    new_key(home / "keys" / "demo.jwk")
    assert mode(home / "profiles.toml") == 0o600
    assert mode(home / "keys" / "demo.jwk") == 0o600


def test_an_unknown_profile_names_those_there(home: Path) -> None:
    save_profile("demo", "https://audit.example", "res_1", home / "demo.jwk")
    with refuses(ProfileError, "no-such-profile", "'demp'", "demo"):
        Auditor.from_profile("demp")


@pytest.mark.parametrize("name", ["", "a b", "a]\n[b", "a.b"])
def test_a_name_must_be_a_plain_word(name: str) -> None:
    with pytest.raises(ProfileError):
        save_profile(name, "https://audit.example", "res_1", "key.jwk")


def test_broken_profiles_are_reported(home: Path) -> None:
    home.mkdir()
    (home / "profiles.toml").write_text("[demo\n")
    with refuses(ProfileError, "unreadable"):
        load_profiles()


def test_the_public_half_of_a_key_is_public(tmp_path: Path) -> None:
    public = new_key(tmp_path / "a.jwk")
    assert "d" not in public
    assert public["kid"] == load_key(tmp_path / "a.jwk").thumbprint()


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    new_key(tmp_path / "a.jwk")
    with refuses(ProfileError, "key-exists"):
        new_key(tmp_path / "a.jwk")


def test_a_key_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jwk"
    new_key(path)
    path.chmod(0o640)
    with refuses(ProfileError, "readable-by-others", "chmod 600"):
        load_key(path)


def test_what_is_no_private_key_is_refused(tmp_path: Path) -> None:
    public = new_key(tmp_path / "a.jwk")
    for bad in (public, {"kty": "OKP"}, {"kty": "oct", "k": "AAAA"}, {}):
        with pytest.raises(ProfileError):
            load_key(bad)
    (tmp_path / "list.jwk").write_text(json.dumps([1]))
    (tmp_path / "list.jwk").chmod(0o600)
    with refuses(ProfileError, "not-a-jwk"):
        load_key(tmp_path / "list.jwk")
    with refuses(ProfileError, "no-key-file"):
        load_key(tmp_path / "nothing.jwk")


def test_home_is_the_users_configuration_by_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chosen_home() == home
    monkeypatch.delenv("PLATFORM_AUDITOR_HOME")
    assert chosen_home().name == "platform-auditor"
