"""Runs where SmartNoise-SQL is: `… FOLDER ROUNDS`."""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from snsql import Privacy, from_df

scores, rounds = np.load(Path(sys.argv[1]) / "scores.npy"), int(sys.argv[2])
frame = pd.DataFrame({"person": np.arange(len(scores)), "bin": (scores * 10).astype(int)})
columns = {
    "person": {"type": "int", "private_id": True},
    "bin": {"type": "int", "lower": 0, "upper": 9},
}
table = {"max_ids": 1, "row_privacy": False, "censor_dims": False, **columns}
metadata = {"": {"peer": {"rows": table}}}
times = []
for _ in range(rounds):
    reader = from_df(frame, privacy=Privacy(epsilon=1.0, delta=1e-6), metadata=metadata)
    started = time.perf_counter()
    reader.execute("SELECT bin, COUNT(*) AS people FROM peer.rows GROUP BY bin")
    times.append(time.perf_counter() - started)
print(json.dumps(statistics.median(times)))
