"""The empirical privacy audit: `python -m tests.privacy_audit` (`make privacy-audit`).

For each mechanism and relation, two worst-case neighbours go through the code a worker runs, many
times, and an adversary who knows both tries to tell them apart. How well they can is a statistical
lower bound of what the release costs; above the price it is a violation.
"""
