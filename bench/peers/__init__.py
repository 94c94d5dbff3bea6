"""The same work done by others, each in a virtual environment of its own.

Differentially private counts of 100,000 rows in ten bins: diffprivlib and SmartNoise-SQL beside
our waist, Lomas over HTTP beside our service over HTTP. A fairness gap with its interval:
Fairlearn's bootstrap beside our estimate.
"""

from bench.peers.run import run

__all__ = ["run"]
