"""Files that only their owner may read: keys, profiles, and names of groups."""

import os
import stat
from pathlib import Path

import platformdirs

from auditor_client.errors import ProfileError

HOME_VARIABLE = "PLATFORM_AUDITOR_HOME"


def home() -> Path:
    """Return the folder of this program's files: $PLATFORM_AUDITOR_HOME, or the user's
    configuration folder.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_config_path("platform-auditor")


def write_private(path: Path, text: str) -> None:
    """Replace the file atomically and durably. Other users can never read it, not even for a
    moment.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a crash of the machine."""
    if os.name == "nt":  # Windows cannot open a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_shared(path: Path) -> None:
    """Refuse a private key that other users can read."""
    if os.name == "nt":
        return
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ProfileError(
            f"{path} can be read by other users. Run: chmod 600 {path}", case="readable-by-others"
        )
