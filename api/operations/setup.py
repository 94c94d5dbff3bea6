"""First steps of a deployment: settings, schema, the first regulator and operator."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from api.accounts.service import register_researcher
from api.db import Store
from api.db.schema import migrate
from api.kernel.settings import Settings
from openapi.resources import Personal, ResearcherDraft


def write_settings(
    path: Path,
    database_url: str,
    issuer: str,
    key: bytes,
    platform_options: Mapping[str, object] | None = None,
    platform: str = "simulated",
) -> None:
    """Write a settings file, which only its owner can read: it holds the key-encryption key."""
    fields = {
        "database_url": database_url,
        "issuer": issuer.rstrip("/"),
        "key_encryption_key": key.decode(),
        "platform": platform,
    }
    text = toml(fields)
    if platform_options:
        text += f"\n[platform_options]\n{toml(platform_options)}"
    write_private(path, text)


def make_private_folder(folder: Path) -> bool:
    """Create a folder that only its owner can enter; close an existing empty one.

    Return False for a folder in use that others can enter: its mode is not changed.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077 and not any(folder.iterdir()):
        folder.chmod(0o700)
    return not folder.stat().st_mode & 0o077


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def toml(fields: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in fields.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        inside = (f"{json.dumps(name)} = {_value(each)}" for name, each in value.items())
        return f"{{{', '.join(inside)}}}"
    # Strings, numbers, booleans and lists of them have the same form in JSON and in TOML.
    return json.dumps(value)


def prepare(settings: Settings, keys: Mapping[str, Path | None]) -> dict[str, str]:
    """Migrate, and register one person for each role whose public key is given."""
    store = Store(settings.database_url)
    try:
        migrate(store)
        return {
            role: register_first(store, role, json.loads(path.read_text()))
            for role, path in keys.items()
            if path is not None
        }
    finally:
        store.close()


def register_first(store: Store, role: str, jwk: Mapping[str, Any]) -> str:
    """Register a person; the right to write to the database is the only proof required."""
    draft = ResearcherDraft.model_validate(
        {"name": Personal.fresh(f"First {role}"), "role": role, "jwk": dict(jwk)}
    )
    with store.write() as session:
        return register_researcher(session, draft, None).id
