"""Figures for the operator, on a port of their own: auditors never see them (R2)."""

import math

from prometheus_client import Counter, Histogram

# Seconds within which requests are counted as answered.
ENDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)

REQUESTS = Counter("requests", "Requests served", ["method", "route", "status"])
LATENCY = Histogram("request_seconds", "Time to serve a request", ["method", "route"], buckets=ENDS)
AUDITS = Counter("audits", "Audits finished", ["state"])
STEPS = Counter("exploration_steps", "Steps of other recommendations that people were shown")
MENDED_REWARDS = Counter("mended_rewards", "Rewards of an adapter that were cut or not a number")
LEFT_OUT = Counter(
    "two_party_left_out",
    "People without a place in runs on hidden audiences: two_party_candidates is too small",
)
