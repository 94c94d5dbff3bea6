"""Figures for the operator, on a port of their own: auditors never see them (R2)."""

from prometheus_client import Counter, Histogram

REQUESTS = Counter("requests", "Requests served", ["method", "route", "status"])
LATENCY = Histogram("request_seconds", "Time to serve a request", ["method", "route"])
AUDITS = Counter("audits", "Audits finished", ["state"])
