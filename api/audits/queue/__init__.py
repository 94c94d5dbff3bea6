"""The queue of charged audits: who runs next, in which process, and how results are committed. See README.md."""
