"""The ledger as bytes: entries, statements, the tree over them, signed heads, and their verifier.

No I/O and no database: the service writes with it, the SDK and regulators verify with it.
"""
