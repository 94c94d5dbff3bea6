"""Runs where diffprivlib is: `… FOLDER ROUNDS`."""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from diffprivlib.tools import histogram

scores, rounds = np.load(Path(sys.argv[1]) / "scores.npy"), int(sys.argv[2])
times = []
for _ in range(rounds):
    started = time.perf_counter()
    histogram(scores, epsilon=1.0, bins=10, range=(0.0, 1.0))
    times.append(time.perf_counter() - started)
print(json.dumps(statistics.median(times)))
