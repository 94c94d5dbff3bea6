"""The same work by other software, each in its own virtual environment.

Differentially private counts of 100,000 rows in ten bins: our
mechanisms compared with diffprivlib and SmartNoise-SQL, and our service over HTTP with Lomas over
HTTP. A fairness gap with its interval: our estimate compared with Fairlearn's bootstrap.
"""

from bench.peers.run import run

__all__ = ["run"]
