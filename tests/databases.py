"""Databases of the newest schema, made the quick way: migrated once in a process, then copied."""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from api.store import Store
from api.store.schema import migrate


def prepare(store: Store) -> None:
    """What `migrate` does for a new database; tests of migrations call that itself."""
    file = Path(store.engine.url.database or "")
    if store.engine.dialect.name == "sqlite" and not file.exists():
        shutil.copyfile(_migrated(), file)
    else:
        migrate(store)


@cache
def _migrated() -> Path:
    folder = Path(mkdtemp(prefix="migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = Store(f"sqlite:///{folder / 'empty.sqlite'}")
    migrate(store)
    store.close()  # the last connection writes everything into the one file
    return folder / "empty.sqlite"
