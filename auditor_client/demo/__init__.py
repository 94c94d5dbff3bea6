"""The demo's study, and one audit of every other kind; run with `python -m auditor_client.demo`."""
