"""The ledger as bytes: entries, statements, the tree over them, checkpoints, and their verifier.

The package has no I/O and no database. The service writes with it; the SDK and regulators verify
with it.
"""
