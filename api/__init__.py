"""The service a platform hosts."""

import sys
from importlib.util import find_spec
from pathlib import Path

_NEEDED = ("alembic", "authlib", "fastapi", "opendp", "sqlmodel", "uvicorn")

if _missing := [name for name in _NEEDED if find_spec(name) is None]:
    _advice = f'the service needs {", ".join(_missing)}: pip install "platform-auditor[server]"'
    if Path(sys.argv[0]).stem == "platform-auditor":
        sys.exit(_advice)  # the command says it in one line
    raise ImportError(_advice)
