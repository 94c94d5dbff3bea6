"""Figures for the operator, on a port of their own: auditors never see them (R2)."""

from prometheus_client import Counter, Histogram

REQUESTS = Counter("requests", "Requests served", ["method", "route", "status"])
LATENCY = Histogram("request_seconds", "Time to serve a request", ["method", "route"])
AUDITS = Counter("audits", "Audits finished", ["state"])
STEPS = Counter("exploration_steps", "Steps of other recommendations that people were shown")
MENDED_REWARDS = Counter("mended_rewards", "Rewards of an adapter that were cut or not a number")
