"""Requests for audits of every kind, made from given parameters and the kind's contract."""
