"""Runs where Fairlearn is: `… SCORES.npy GROUPS.npy BOOTSTRAPS`: the largest gap in a share."""

import json
import sys
import time

import numpy as np
from fairlearn.metrics import MetricFrame, selection_rate

scores, groups, bootstraps = np.load(sys.argv[1]), np.load(sys.argv[2]), int(sys.argv[3])
chosen = (scores >= 0.5).astype(int)
started = time.perf_counter()
frame = MetricFrame(
    metrics=selection_rate,
    y_true=chosen,
    y_pred=chosen,
    sensitive_features=groups,
    n_boot=bootstraps,
    ci_quantiles=[0.025, 0.975],
    random_state=0,
)
frame.difference()
frame.difference_ci()
print(json.dumps(time.perf_counter() - started))
