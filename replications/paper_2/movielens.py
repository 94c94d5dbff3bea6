"""MovieLens-100k, from the wheel of `recbole` on PyPI: fetched without dependencies, and not
stored.

`python -m replications.paper_2.movielens` prints the numbers of people, films and ratings.

[HK15] Harper, Konstan, The MovieLens datasets: history and context, ACM TiiS 5(4), 2015.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WHEEL = "recbole==1.2.1"
FILE = "recbole/dataset_example/ml-100k/ml-100k.inter"
PEOPLE, FILMS = 943, 1682
# Ratings of at least this many stars count as liked.   [DCAU22, §5: those < 3 are set to zero]
LIKED = 3


def liked() -> NDArray[np.bool_] | None:
    """Return the films that each person liked; print a note and return None if the wheel cannot be
    fetched.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", WHEEL]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *asked, "--dest", folder],
            capture_output=True,
            text=True,
            timeout=300,
        )
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            print(f"MovieLens is left out: {WHEEL} cannot be fetched by pip.")
            return None
        return read(wheels[0])


def read(wheel: Path) -> NDArray[np.bool_]:
    """Return the ratings in the wheel: user, film, stars and time, one line each."""
    with zipfile.ZipFile(wheel) as held, held.open(FILE) as lines:
        users, films, stars = np.loadtxt(lines, skiprows=1, usecols=(0, 1, 2), unpack=True)
    found = np.zeros((PEOPLE, FILMS), bool)
    found[users.astype(int) - 1, films.astype(int) - 1] = stars >= LIKED
    return found


if __name__ == "__main__":
    table = liked()
    if table is not None:
        print(f"{table.shape[0]} people, {table.shape[1]} films, {table.sum()} liked")
