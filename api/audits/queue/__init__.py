"""The queue of charged audits, and the worker that runs them (README.md)."""
