"""Profiles: a service, an identity and a key each, in the TOML file `profiles.toml` under `home()`.

[demo]
url = "https://audit.example"
researcher = "res_0123456789abcdef0123456789abcd"
key = "/home/ada/.config/platform-auditor/keys/demo.jwk"
"""

import json
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from auditor_client.errors import ProfileError
from auditor_client.local.private_files import home, write_private

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Profile:
    """Settings with which one researcher signs in at one service."""

    url: str
    researcher: str
    key: str


def load_profiles() -> dict[str, Profile]:
    """Return all profiles by name."""
    path = _path()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Profile(**table) for name, table in tables.items()}
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError, TypeError) as error:
        raise ProfileError(
            f"The profiles in {path} cannot be read: {error}", case="unreadable"
        ) from error


def load_profile(name: str) -> Profile:
    profiles = load_profiles()
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none yet"
        raise ProfileError(
            f"There is no profile {name!r} in {_path()} (there: {known}). Add one with: "
            "auditor profile add",
            case="no-such-profile",
        )
    return profiles[name]


def save_profile(name: str, url: str, researcher: str, key: str | Path) -> Profile:
    """Add or replace a profile."""
    if not NAME.fullmatch(name):
        raise ProfileError(
            f"{name!r} is not a valid name for a profile. Use letters, digits, _ and -."
        )
    profile = Profile(url=url, researcher=researcher, key=str(Path(key).absolute()))
    profiles = {**load_profiles(), name: profile}
    write_private(_path(), "\n".join(_table(name, profiles[name]) for name in sorted(profiles)))
    return profile


def _path() -> Path:
    return home() / "profiles.toml"


def _table(name: str, profile: Profile) -> str:
    # A JSON string is a TOML basic string.
    fields = (f"{key} = {json.dumps(value)}\n" for key, value in asdict(profile).items())
    return f"[{name}]\n{''.join(fields)}"
