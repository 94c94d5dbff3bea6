"""Study of the demo, and one audit of every other kind; run as `python -m auditor_client.demo`."""
