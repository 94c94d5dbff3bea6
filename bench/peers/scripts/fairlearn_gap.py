"""Runs where Fairlearn is: `… FOLDER BOOTSTRAPS`: the largest gap in a share, with its interval."""

import json
import sys
import time
from pathlib import Path

import numpy as np
from fairlearn.metrics import MetricFrame, selection_rate

folder, bootstraps = Path(sys.argv[1]), int(sys.argv[2])
scores, groups = np.load(folder / "scores.npy"), np.load(folder / "groups.npy")


def gap(rows: int, bootstraps: int) -> float:
    chosen = (scores[:rows] >= 0.5).astype(int)
    started = time.perf_counter()
    frame = MetricFrame(
        metrics=selection_rate,
        y_true=chosen,
        y_pred=chosen,
        sensitive_features=groups[:rows],
        n_boot=bootstraps,
        ci_quantiles=[0.025, 0.975],
        random_state=0,
    )
    frame.difference()
    frame.difference_ci()
    return time.perf_counter() - started


gap(1_000, 2)  # everything is loaded
print(json.dumps(gap(len(scores), bootstraps)))
