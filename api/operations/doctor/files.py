"""Checks of file modes: only the service's own account can read its secrets and its database.

A file that others can read, and a folder that others can write to, are failures. A folder that
others can only list is a warning: a file that is added later may be readable.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from api.kernel.checks import Checks, NotApplicableError, WarnedError
from api.operations.doctor.subject import DoctorSubject

FILES = Checks[DoctorSubject]()
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_KEY_OPTIONS = ("token_file", "certificate_key")
_TO_DO = "let only the service's own account read it: chmod 600 on files, chmod 700 on the folder"


@FILES.check(_TO_DO)
def settings_are_private(subject: DoctorSubject) -> str | None:
    if subject.config is None:
        raise NotApplicableError("the settings come from the environment")
    return _exposure([subject.config])


@FILES.check(_TO_DO)
def key_files_are_private(subject: DoctorSubject) -> str | None:
    """Check the adapter's token and the key of the client certificate."""
    options = subject.settings.platform_options
    files = [Path(options[name]) for name in _KEY_OPTIONS if options.get(name) is not None]
    if not files:
        raise NotApplicableError("no token_file and no certificate_key is set")
    return _exposure(files)


@FILES.check(_TO_DO)
def database_is_private(subject: DoctorSubject) -> str | None:
    """Check the database of SQLite, its write-ahead log and its shared memory."""
    if not subject.is_sqlite:
        raise NotApplicableError("the files of PostgreSQL are not visible from here")
    files = (subject.file.with_name(subject.file.name + end) for end in ("", "-wal", "-shm"))
    return _exposure([path for path in files if path.exists()])


def _exposure(files: Sequence[Path]) -> str | None:
    """Return how others can read or replace one of the files; warn if they can list its folder."""
    folders = dict.fromkeys(path.resolve().parent for path in files)
    for path in files:
        if _mode(path) & _OTHERS:
            return f"others can read {path.name}: mode {_shown(path)}"
    for folder in folders:
        if _mode(folder) & _OTHERS_WRITE:
            return f"others can put files into {folder}: mode {_shown(folder)}"
    for folder in folders:
        if _mode(folder) & _OTHERS:
            raise WarnedError(f"others can list {folder}: mode {_shown(folder)}")
    return None


def _mode(path: Path) -> int:
    """Return the mode, without the access that systemd gives to the service's own account.

    systemd passes credentials by an access list, which appears as access of the group.
    """
    mode = path.stat().st_mode
    return mode & ~(stat.S_IRGRP | stat.S_IXGRP) if _is_credential(path) else mode


def _is_credential(path: Path) -> bool:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return folder is not None and path.resolve().is_relative_to(Path(folder).resolve())


def _shown(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:o}"
