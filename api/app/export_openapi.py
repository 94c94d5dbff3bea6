"""Export of the OpenAPI document: `python -m api.app.export_openapi [--check]`."""

import json
import sys
from pathlib import Path

from fastapi import FastAPI

from api.app.app import describe
from openapi.kinds.packages import admit

PATH = Path(__file__).parents[2] / "openapi" / "openapi.json"


def export() -> str:
    """Return the document, with its keys in the order of the routes."""
    return json.dumps(describe(FastAPI()).openapi(), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    admit(())  # the committed document holds the built-in kinds alone
    document = export()
    if "--check" not in sys.argv:
        PATH.write_text(document)
        return 0
    if PATH.read_text() == document:
        return 0
    print("openapi/openapi.json differs from the code: run make openapi", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
