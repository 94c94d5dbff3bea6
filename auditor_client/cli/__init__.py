"""The `auditor` command, for researchers and regulators: one file per noun."""

from auditor_client.cli.app import app, main

__all__ = ["app", "main"]
