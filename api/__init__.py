"""The service a platform hosts."""

from importlib.util import find_spec

_NEEDED = ("alembic", "authlib", "fastapi", "opendp", "sqlmodel", "uvicorn")

if _missing := [name for name in _NEEDED if find_spec(name) is None]:
    raise ImportError(
        f'the service needs {", ".join(_missing)}: pip install "platform-auditor[server]"'
    )
